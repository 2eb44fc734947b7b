"""Groups of identical sources, and pairs of people whose sources share what few others have."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from app.teaching.similarity.fingerprints import Fingerprints
from app.teaching.similarity.rarity import PublicCode, Rarity

MOST_PEOPLE = 500
# With several attempts of each person, this many sources in all.
MOST_SOURCES = 600
MOST_PAIRS = 100
FROM = 0.5
# Two that are identical are a pair.
_LEAST_GROUP = 3
# Fingerprints that neither the problem nor its solutions have. With fewer, identical sources say nothing.
_LEAST = 6
# Weight that counts as not in common. Without it, two people who share the three rare fingerprints that they have would
# be as suspicious as two who share a hundred.
_DOUBT = 4.0
# Fingerprints of all sources together. Of more, only a part is compared, so that a report takes seconds.
_MOST_MARKS = 150_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sources of different people, by the keys of `compare`.

    `share` is the part of the lighter source that the other one also has, and `weight` is how much that weighs: one
    fingerprint that nobody else has weighs 1.
    """

    one: str
    other: str
    share: float
    weight: float


def groups_of(
    prints: Mapping[str, Fingerprints], public: PublicCode, authors: Mapping[str, str] | None = None
) -> list[tuple[str, ...]]:
    """Three or more people with the same source except for names, layout, comments and the order of functions.

    Args:
      authors: who sent each source; without it, each is somebody else's.

    Returns:
      Keys, one for each person; the largest group first.
    """
    found: dict[tuple[int, ...], dict[str, str]] = defaultdict(dict)
    for key, each in prints.items():
        if len(each.marks - public.handout - public.styles) >= _LEAST:
            found[each.identity].setdefault(authors[key] if authors else key, key)
    groups = [tuple(keys.values()) for keys in found.values() if len(keys) >= _LEAST_GROUP]
    return sorted(groups, key=lambda each: (-len(each), each))


def compare(
    prints: Mapping[str, Fingerprints],
    public: PublicCode,
    *,
    authors: Mapping[str, str] | None = None,
    least: float = FROM,
) -> list[Pair]:
    """The pairs with a share of at least `least`, highest first; of each two people, the two sources most alike."""
    rarity = rarity_of(prints, public, authors)
    weights = _sample({key: rarity.weights(each) for key, each in prints.items()})
    totals = {key: sum(each.values()) for key, each in weights.items()}
    best: dict[tuple[str, str], Pair] = {}
    for one, other in combinations(weights, 2):
        people = (authors[one], authors[other]) if authors else (one, other)
        if people[0] == people[1]:
            continue
        weight = common_weight(weights[one], weights[other])
        share = share_of(weight, totals[one], totals[other])
        people = (min(people), max(people))
        if share >= least and (people not in best or share > best[people].share):
            best[people] = Pair(one, other, share, weight)
    return sorted(best.values(), key=lambda each: (-each.share, -each.weight, each.one, each.other))


def rarity_of(
    prints: Mapping[str, Fingerprints], public: PublicCode, authors: Mapping[str, str] | None = None
) -> Rarity:
    """The weights in a class in which each person counts once, with everything that they sent."""
    marks: dict[str, set[int]] = defaultdict(set)
    for key, each in prints.items():
        marks[authors[key] if authors else key] |= each.marks
    return Rarity(marks.values(), public)


def common_weight(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    return sum(map(one.__getitem__, one.keys() & other.keys()))


def share_of(weight: float, one_total: float, other_total: float) -> float:
    return weight / (min(one_total, other_total) + _DOUBT)


def _sample(weights: Mapping[str, dict[int, float]]) -> Mapping[str, dict[int, float]]:
    """Of too many fingerprints, the same part in each source, by their values."""
    every = -(-sum(map(len, weights.values())) // _MOST_MARKS)
    if every <= 1:
        return weights
    return {key: {mark: weight for mark, weight in each.items() if mark % every == 0} for key, each in weights.items()}


def without_repeats(groups: Sequence[tuple[str, ...]], keys: Sequence[str]) -> list[str]:
    """The keys, with the first of each group standing for all of it."""
    further = {key for each in groups for key in each[1:]}
    return [key for key in keys if key not in further]
