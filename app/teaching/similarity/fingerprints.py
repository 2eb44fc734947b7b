"""Which parts of two sources are similar after renaming, moving and reformatting: hashes of short runs of tokens.

A run stays within a function, so the order of functions does not matter. How much a common run says depends on how many
others have it: app/teaching/similarity/rarity.py.
"""

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from app.teaching.similarity.operand_order import Token
from app.teaching.similarity.tokens import functions_of

# Tokens in a run. Two people often write the same shorter run; of a longer one, each small change breaks more.
RUN = 6


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """`runs` has a hash for each run, and the places in `tokens` of its first token and behind its last one."""

    tokens: tuple[Token, ...]
    runs: tuple[tuple[int, int, int], ...]
    marks: frozenset[int]

    @property
    def identity(self) -> tuple[int, ...]:
        """Equal for sources that differ at most in names, layout, comments and the order of functions."""
        return tuple(sorted(each[0] for each in self.runs))


def fingerprints(source: str) -> Fingerprints:
    tokens: list[Token] = []
    runs: list[tuple[int, int, int]] = []
    for function in functions_of(source):
        first, texts = len(tokens), [each.text for each in function]
        tokens += function
        # A function that is shorter than a run is one.
        for at in range(max(1, len(texts) - RUN + 1) if texts else 0):
            part = texts[at : at + RUN]
            runs.append((_hash(part), first + at, first + at + len(part)))
    return Fingerprints(tuple(tokens), tuple(runs), frozenset(each[0] for each in runs))


def _hash(texts: Sequence[str]) -> int:
    return int.from_bytes(hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8).digest())


def common_lines(one: Fingerprints, other: Fingerprints, ignored: AbstractSet[int]) -> set[int]:
    """The numbers of the lines of `one` that are also in `other`, without ignored parts."""
    alike = other.marks - ignored
    return {token.line for run, at, end in one.runs if run in alike for token in one.tokens[at:end]}
