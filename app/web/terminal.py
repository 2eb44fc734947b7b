"""Makes a submission's output safe to show: nothing in it controls a terminal or a page, or misleads the reader."""

import re
import unicodedata

# CSI (colours, cursor moves) and OSC (window titles, links) sequences, which mean nothing to a reader.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def plain_text(text: str) -> str:
    """Remove terminal sequences, and make every other control or direction character visible.

    >>> plain_text("\\x1b[31mred\\x1b[0m\\a")
    'red␇'
    """
    # Most text is printable, and each line of the log passes through here.
    if text.isprintable():
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
