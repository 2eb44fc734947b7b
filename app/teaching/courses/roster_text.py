"""Text that was read in the wrong encoding: UTF-8 as Windows-1252, or Windows-1252 as UTF-8."""

import re

# What the first byte of a character of several bytes looks like, and then one of the others.
_SUSPECT = re.compile(
    r"[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
)
_REPLACED = "\N{REPLACEMENT CHARACTER}"


def encoding_warning(text: str) -> str:
    """Why this text looks wrongly encoded, and what to do; empty if it looks right."""
    if _REPLACED in text:
        return f"{_short(text)} has characters that could not be read. Save the file as UTF-8, and choose it again."
    if (meant := _repaired(text)) != text:
        return f"{_short(text)} was probably {_short(meant)}. Save the file as UTF-8, and choose it again."
    return ""


def _repaired(text: str) -> str:
    if not _SUSPECT.search(text):
        return text
    # Windows-1252 leaves five bytes undefined, which programs then keep as they are.
    as_bytes = b"".join(_bytes_of(each) for each in text)
    try:
        return as_bytes.decode("utf-8")
    except UnicodeDecodeError:
        return text


def _bytes_of(character: str) -> bytes:
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1") if ord(character) < 256 else character.encode("utf-8", "replace")


def _short(text: str) -> str:
    return f'"{text[:40]}"'
