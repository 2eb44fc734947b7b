"""Make text from a sandbox safe to store and show, and format numbers for people."""

import re
import unicodedata
from typing import Any

# CSI (colours, cursor moves) and OSC (window titles, links) sequences, which mean nothing to a reader.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def plain_text(text: str) -> str:
    """Remove terminal sequences, and make every other control or direction character visible.

    >>> plain_text("\\x1b[31mred\\x1b[0m\\a")
    'red␇'
    """
    # A shortcut, because most text is printable, and each line of the log passes through here.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible, _ESCAPES.sub("", text.replace("\r\n", "\n"))))


def _visible(char: str) -> str:
    if char in "\n\t":
        return char
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "␡"
    # Cc, Cf, Cs, Co: C1 controls, direction overrides (which show text in another order), lone surrogates, private use.
    if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co"}:
        return f"⟨U+{ord(char):04X}⟩"
    return char


def storable(value: Any) -> Any:
    """Replace lone surrogates and NUL, which UTF-8 or PostgreSQL cannot store, in all strings below `value`."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(storable(item) for item in value)
    return value


def in_bytes(number: float) -> str:
    """Format bytes with three significant digits, in the unit that fits: `136 KiB`, `1.5 MiB`, `1,020 MiB`."""
    unit = "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    if unit == "B":
        return f"{number:.0f} B"
    return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
