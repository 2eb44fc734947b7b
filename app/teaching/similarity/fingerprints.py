"""Which parts of two sources are similar after renaming, moving and reformatting: winnowing over normalised tokens.

Comments, docstrings and layout are dropped, and every name that the author chose becomes the same token. Names after a
dot stay, because they are those of a library. Every run of `RUN` tokens has a hash, and of each `WINDOW` neighbours the
smallest is a fingerprint, so any common part of RUN + WINDOW - 1 tokens leaves one: Schleimer, Wilkerson and Aiken,
"Winnowing", SIGMOD 2003.

A regular expression reads the tokens, in one pass. Python's own parser can be made to end the process by a source that
is nested deeply enough, and its tokens differ between releases.
"""

import builtins
import hashlib
import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

RUN = 12
WINDOW = 5
MOST_TOKENS = 20_000
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbfutRBFUT]{0,2}(?:'{3}(?s:.)*?(?:'{3}|\Z)|"{3}(?s:.)*?(?:"{3}|\Z)
        |'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?))
    |(?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?|\.\d[\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<newline>\n)
    |(?P<operator>->|:=|\*\*=?|//=?|<<=?|>>=?|[<>=!+\-*/%@&|^]=|[^\s\\])""",
    re.VERBOSE,
)
_KNOWN_NAMES = frozenset(keyword.kwlist) | (frozenset(dir(builtins)) - {"_"})
_CLOSING = frozenset(")]}")


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """`marks` stands for the source in comparisons. `runs` is every hash, by its place in `tokens`."""

    tokens: tuple[Token, ...]
    runs: tuple[int, ...]
    marks: frozenset[int]


def tokens_of(source: str) -> list[Token]:
    """The normalised tokens, at most `MOST_TOKENS`."""
    found: list[Token] = []
    line, begins, after_dot = 1, True, False
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match[0]
        here, line = line, line + text.count("\n")
        if kind == "newline":
            begins = True
        elif kind == "comment":
            pass
        elif kind == "string" and begins:
            pass  # a docstring, or a string that does nothing
        else:
            if text in _CLOSING and found and found[-1].text == ",":
                found.pop()  # a formatter adds such commas
            found.append(Token(_normal(str(kind), text, after_dot), here))
            begins, after_dot = False, text == "."
            if len(found) >= MOST_TOKENS:
                break
    return found


def _normal(kind: str, text: str, after_dot: bool) -> str:
    if kind == "string":
        return "s"
    if kind == "name" and not after_dot and text not in _KNOWN_NAMES:
        return "n"
    return text


def fingerprints(source: str) -> Fingerprints:
    tokens = tokens_of(source)
    texts = [each.text for each in tokens]
    runs = [_hash(texts[at : at + RUN]) for at in range(len(texts) - RUN + 1)]
    return Fingerprints(tuple(tokens), tuple(runs), frozenset(_winnow(runs)))


def _winnow(runs: Sequence[int]) -> Iterable[int]:
    if len(runs) < WINDOW:
        return runs
    return (min(runs[at : at + WINDOW]) for at in range(len(runs) - WINDOW + 1))


def _hash(texts: Sequence[str]) -> int:
    return int.from_bytes(hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8).digest())


def share(one: frozenset[int], other: frozenset[int]) -> float:
    """The part of the smaller one that is also in the other."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def common_lines(one: Fingerprints, other: Fingerprints, ignored: frozenset[int]) -> set[int]:
    """The numbers of the lines of `one` that are also in `other`, without ignored parts."""
    alike = frozenset(other.runs) - ignored
    return {token.line for at, run in enumerate(one.runs) if run in alike for token in one.tokens[at : at + RUN]}
