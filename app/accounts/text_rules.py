"""Short texts that users type: a line, several lines, and a name to sign in with."""

import re

from app.accounts.errors import NameInvalid, NameTaken
from app.core.errors import FieldInvalid

# ASCII, so that names that look the same are the same; lower case, so that nobody has to remember capitals.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,38}")

# Control characters, line breaks, and characters that change the direction of text.
_NONE_OF = r"\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"
LINE_PATTERN, EMPTY_LINE_PATTERN = rf"^[^{_NONE_OF}]*[^\s{_NONE_OF}][^{_NONE_OF}]*$", rf"^[^{_NONE_OF}]*$"
# Half of a surrogate pair is not permitted either, but no pattern in JSON can express it.
_LINE = re.compile(rf"[^{_NONE_OF}\ud800-\udfff]*")
# Tabs and line breaks are permitted.
_NONE_OF_TEXT = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"
TEXT_PATTERN = rf"^[^{_NONE_OF_TEXT}]*[^\s{_NONE_OF_TEXT}][^{_NONE_OF_TEXT}]*$"
_TEXT = re.compile(rf"[^{_NONE_OF_TEXT}\ud800-\udfff]*")


def check_line(field: str, text: str, longest: int, *, empty: bool = False) -> str:
    """The text without spaces at either end. Raises `FieldInvalid`."""
    text = text.strip()
    if not (text or empty) or len(text) > longest or not _LINE.fullmatch(text):
        raise FieldInvalid(f"{field}: must be one line of {'at most' if empty else '1 to'} {longest} characters.")
    return text


def check_text(field: str, text: str, longest: int) -> str:
    """The text without spaces at either end, and with one kind of line break. Raises `FieldInvalid`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text or len(text) > longest:
        raise FieldInvalid(f"{field}: must be a text of 1 to {longest} characters.")
    if not _TEXT.fullmatch(text):
        raise FieldInvalid(f"{field}: remove control characters, and those that change the direction of text.")
    return text


def normal_name(name: str) -> str:
    return name.strip().lower()


def is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> str:
    """The name as it is stored. Raises `NameInvalid`."""
    name = normal_name(name)
    if not is_name(name):
        raise NameInvalid(
            "A name has 2 to 39 characters (a to z, digits, and . _ -) and begins with a letter or digit. "
            "Others see it in rankings."
        )
    return name


def name_taken(name: str) -> NameTaken:
    """The error for a name that someone else has."""
    return NameTaken(f"The name {name!r} is taken. Choose another one.")
