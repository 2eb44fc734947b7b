"""Split program text into tokens: HLO as XLA prints it, and MLIR as JAX exports it.

Names, locations and attributes in it come from submitted code, so any character may occur anywhere. Both tokenizers
read every text to its end in linear time: a string that never closes becomes one token.
"""

import re
from array import array
from dataclasses import dataclass

# Each alternative that opens something also matches the end of the text. Otherwise, a text of a million openings would
# be scanned a million times.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?(?:"|\Z)'
_HLO = re.compile(
    rf"""{_STRING}
    | /\*index=\d+\*/                   # the only comment that XLA writes; any other could hide instructions
    | %[\w.\-]*                         # a reference: %all-gather.1
    | [A-Za-z_](?:[\w.]|-(?!>))*+       # a name: all-gather, f32, replica_groups; "io->" ends before the arrow
    | -> | <=
    | -?\d[\w.]*+(?:(?<=[eE])[+-]\d+)?  # a number, or what starts like one: 3x3, 1e-05
    | '[\w.\-]*'                        # an axis of a mesh: 'axis_0'
    | \S""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_MLIR = re.compile(
    rf"""{_STRING}
    | //[^\n]*
    | @{_STRING}
    | [%@#!^][\w.$\-]*+(?:\#\d+)?       # a value, symbol, attribute alias, type alias or block: %3#1, @main, ^bb0
    | [A-Za-z_][\w.$]*+
    | ->
    | -?\d[\w.]*+(?:(?<=[eE])[+-]\d+)?  # also the inside of a type: 8x64xf32
    | \S""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_COMMENTS = ("/*", "//")
_HLO_BRACKETS = {"(": ")", "[": "]", "{": "}"}
MLIR_BRACKETS = _HLO_BRACKETS | {"<": ">"}

# 2**63 has 19 digits. Python takes quadratic time for long numbers, and refuses to convert very long ones.
_MOST_DIGITS = 19
# A reader may look this many tokens past the last one.
_SENTINELS = ("", "", "")


class ProgramUnreadable(ValueError):
    """The text is not a program that can be graded. The message says what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as tokens. Comments are removed, and three empty tokens follow the last one.

    `partners[i]` is the index of the bracket that closes the one at `i`.
    """

    text: str
    items: list[str]
    partners: "array[int]"
    pattern: re.Pattern[str]

    def __getitem__(self, index: int) -> str:
        return self.items[index]

    @property
    def end(self) -> int:
        """The number of tokens."""
        return len(self.items) - len(_SENTINELS)

    def positions(self, token: str) -> list[int]:
        """The indices of all tokens equal to this one."""
        return [index for index, each in enumerate(self.items) if each == token]

    def error(self, index: int, expected: str) -> ProgramUnreadable:
        """The error to raise if the token at `index` is not the expected one."""
        found = shown(self.items[index]) if index < self.end else "the end of the text"
        return ProgramUnreadable(f"line {self._line(index)}: expected {expected}, found {found}")

    def _line(self, index: int) -> int:
        # Only errors need lines, and counting them while reading would double the time.
        line, position, seen = 1, 0, 0
        for match in self.pattern.finditer(self.text):
            if match.group()[:2] in _COMMENTS:
                continue
            if seen == index:
                return line + self.text.count("\n", position, match.start())
            line += self.text.count("\n", position, match.start())
            position = match.start()
            seen += 1
        return line + self.text.count("\n", position)


def cut_hlo(text: str) -> Tokens:
    """Tokenize HLO text. Raises ProgramUnreadable if brackets or strings do not close."""
    return _cut(text, _HLO, _HLO_BRACKETS)


def cut_mlir(text: str) -> Tokens:
    """Tokenize MLIR text. Raises ProgramUnreadable if brackets or strings do not close."""
    return _cut(text, _MLIR, MLIR_BRACKETS)


def integer(token: str) -> int | None:
    """The value of a decimal number, or None if `token` is not one or has more than 19 digits."""
    digits = token.removeprefix("-")
    if digits.isdecimal() and digits.isascii() and len(digits) <= _MOST_DIGITS:
        return int(token)
    return None


def unquoted(token: str) -> str:
    """The text of a string token, with `\\"`, `\\\\`, `\\n` and their like resolved."""
    inner = token[1:-1]
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), inner, flags=re.DOTALL)


def shown(text: str) -> str:
    """Text from the program, made safe for a message: short, one line, visible characters only."""
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _cut(text: str, pattern: re.Pattern[str], brackets: dict[str, str]) -> Tokens:
    items: list[str] = pattern.findall(text)
    if any(opening in text for opening in _COMMENTS):
        items = [token for token in items if token[:2] not in _COMMENTS]
    items.extend(_SENTINELS)
    tokens = Tokens(text, items, array("l", bytes(array("l").itemsize * len(items))), pattern)
    opened: list[int] = []
    closing = set(brackets.values())
    for index, token in enumerate(items):
        if token in brackets:
            opened.append(index)
        elif token in closing:
            if not opened or brackets[items[opened[-1]]] != token:
                raise tokens.error(index, "a bracket that was opened to close")
            tokens.partners[opened.pop()] = index
        elif token[:1] == '"' and (len(token) < 2 or token[-1] != '"' or _ends_escaped(token)):
            raise tokens.error(index, "a string that ends")
    if opened:
        raise tokens.error(opened[-1], "a bracket that is closed again")
    return tokens


def _ends_escaped(token: str) -> bool:
    r"""Whether the last quote belongs to an escape, as in `"a\"`: the string was still open at the end of the text."""
    body = token[1:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1
