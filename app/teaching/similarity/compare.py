"""Groups of identical submissions, and pairs whose share is high, except for what everyone gets with the problem."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from app.teaching.similarity.fingerprints import Fingerprints, fingerprints, share

MOST_PEOPLE = 500
MOST_PAIRS = 200
# Two that are identical are a pair.
_LEAST_GROUP = 3
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


def ignored_of(public: Iterable[str]) -> frozenset[int]:
    """The hashes of `public` sources, which say nothing.

    What many people have is not ignored. In a class in which most have copied, it is what they copied.
    """
    return frozenset(run for source in public for run in fingerprints(source).runs)


def groups_of(prints: Mapping[str, Fingerprints], ignored: frozenset[int]) -> list[tuple[str, ...]]:
    """Three or more people with the same source except for names, layout and comments; the largest group first."""
    found = defaultdict(list)
    for key, each in prints.items():
        if len(each.marks - ignored) >= _LEAST:
            found[each.runs].append(key)
    groups = [tuple(keys) for keys in found.values() if len(keys) >= _LEAST_GROUP]
    return sorted(groups, key=lambda each: (-len(each), each))


def compare(prints: Mapping[str, Fingerprints], ignored: frozenset[int], *, least: float = FROM) -> list[Pair]:
    """The pairs with a share of at least `least`, highest first."""
    own = {key: each.marks - ignored for key, each in prints.items()}
    usable = {key: each for key, each in own.items() if len(each) >= _LEAST}
    pairs = [
        Pair(one, other, part, min(len(usable[one]), len(usable[other])))
        for one, other in combinations(usable, 2)
        if (part := share(usable[one], usable[other])) >= least
    ]
    return sorted(pairs, key=lambda each: (-each.share, -each.fingerprints, each.one, each.other))
