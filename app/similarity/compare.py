"""All pairs of submissions whose share is high, except for the parts that they have from elsewhere.

What the starter has is ignored, and so is what many people have: a problem can be solved in few ways.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from app.similarity.fingerprints import Fingerprints, fingerprints, share

MOST_PEOPLE = 500
MOST_PAIRS = 200
# A part that more than this share of people has, and more than so many, says nothing about two of them.
_COMMON_SHARE, _COMMON_PEOPLE = 0.25, 8
# Fewer fingerprints than these are too little to tell.
_LEAST = 6
FROM = 0.5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people, by the keys of `compare`. `share` is the part of the shorter one that the other one has, too."""

    one: str
    other: str
    share: float
    fingerprints: int


def ignored_of(public: Iterable[str], prints: Iterable[Fingerprints]) -> frozenset[int]:
    """The hashes that say nothing: those of `public` sources, and those that many have."""
    everyone = list(prints)
    public_runs = {run for source in public for run in fingerprints(source).runs}
    owners = Counter(run for each in everyone for run in each.marks)
    least = max(_COMMON_PEOPLE, _COMMON_SHARE * len(everyone))
    return frozenset(public_runs | {run for run, people in owners.items() if people > least})


def compare(prints: Mapping[str, Fingerprints], ignored: frozenset[int], *, least: float = FROM) -> list[Pair]:
    """The pairs with a share of at least `least`, highest first, at most `MOST_PAIRS`."""
    own = {key: each.marks - ignored for key, each in prints.items()}
    usable = {key: each for key, each in own.items() if len(each) >= _LEAST}
    pairs = [
        Pair(one, other, part, min(len(usable[one]), len(usable[other])))
        for one, other in combinations(usable, 2)
        if (part := share(usable[one], usable[other])) >= least
    ]
    return sorted(pairs, key=lambda each: (-each.share, -each.fingerprints, each.one, each.other))[:MOST_PAIRS]
