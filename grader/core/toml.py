"""Read TOML in linear time.

The standard library takes quadratic time for a long dotted key or table header, fails on deeply nested values at a
depth that depends on its caller, and makes integers that Python then refuses to print. So a regular expression first
reads the tokens, in one pass, and rejects what no manifest needs.
"""

import re
import tomllib
from typing import Any

MOST_PARTS = 16
MOST_DEPTH = 32
LONGEST_WORD = 400
_TOKEN = re.compile(
    r'''(?P<comment>\#[^\n]*+)
    |(?P<string>"""(?:[^"\\]++|\\.|"(?!""))*+\\?(?:"{3,5}|\Z)
        |\'\'\'(?:[^']++|'(?!\'\'))*+(?:'{3,5}|\Z)
        |"(?:[^"\\\n]++|\\.)*+"?
        |'[^'\n]*+'?)
    |(?P<word>[\w+-]++)
    |(?P<dot>\.)
    |(?P<open>[\[{])
    |(?P<close>[\]}])
    |(?P<other>[^\s])''',
    re.VERBOSE | re.DOTALL,
)


class TomlInvalid(ValueError):
    """The text is not TOML that we read. The message says why and where; `line` is None for the end of the text."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


def read_toml(text: str) -> dict[str, Any]:
    """Read a TOML text. Raises `TomlInvalid`."""
    _check(text)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError is one, too
        # Before Python 3.14, only the message has the line.
        line = re.search(r"at line (\d+)", str(error))
        raise TomlInvalid(str(error), int(line[1]) if line else None) from None


def _check(text: str) -> None:
    parts, depth, after_dot = 0, 0, False
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind in ("word", "string"):
            parts = parts + 1 if after_dot else 1
        depth += (kind == "open") - (kind == "close")
        after_dot = kind == "dot"
        if parts > MOST_PARTS:
            fault = f"a key has more than {MOST_PARTS} parts"
        elif depth > MOST_DEPTH:
            fault = f"values are nested more than {MOST_DEPTH} deep"
        elif kind == "word" and token.end() - token.start() > LONGEST_WORD:
            fault = f"a number or key has more than {LONGEST_WORD} characters"
        else:
            continue
        line = text.count("\n", 0, token.start()) + 1
        raise TomlInvalid(f"{fault} (at line {line})", line)
