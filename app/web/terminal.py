"""What a submission printed, made harmless to show: nothing in it acts on a terminal, a page or the reader's eye."""

import re
import unicodedata

# CSI (colours, cursor moves) and OSC (window titles, links) sequences say nothing to a reader.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def plain_text(text: str) -> str:
    """Drop terminal sequences and make every other control and direction character visible.

    >>> plain_text("\\x1b[31mred\\x1b[0m\\a")
    'red␇'
    """
    # Most text is, and each line of the log comes by here.
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
    # Cc, Cf, Cs, Co: C1 controls, direction overrides (text that reads other than it is), lone surrogates, private use.
    if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co"}:
        return f"⟨U+{ord(char):04X}⟩"
    return char
