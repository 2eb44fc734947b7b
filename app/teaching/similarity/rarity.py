"""How much a fingerprint says: much if only two people have it, nothing if everybody has it."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from app.teaching.similarity.fingerprints import Fingerprints, fingerprints

# What is left of the weight of a fingerprint that is also in a solution that ships with the problem.
_KNOWN_STYLE = 0.15
# Of a class of 40, up to 20 people have a fingerprint of this weight. It is more than that of a known style.
_NOTABLE = 0.2


@dataclass(frozen=True)
class PublicCode:
    """What explains a likeness without any copying.

    `handout` is what everyone gets with the problem: it says nothing. `styles` are solutions that ship with it,
    the reference among them. Nobody has seen those, but they show how people write, so they say little.
    """

    handout: frozenset[int]
    styles: frozenset[int]

    @classmethod
    def of(cls, handout: Iterable[str], styles: Iterable[str] = ()) -> "PublicCode":
        return cls(_marks(handout), _marks(styles))


def _marks(sources: Iterable[str]) -> frozenset[int]:
    return frozenset(mark for source in sources for mark in fingerprints(source).marks)


class Rarity:
    """The weight of each fingerprint in a class: 1 if two people have it, and less with each further one."""

    def __init__(self, people: Iterable[AbstractSet[int]], public: PublicCode) -> None:
        counts: Counter[int] = Counter()
        self._people = 0
        for marks in people:
            counts.update(marks)
            self._people += 1
        self._counts = counts
        self._public = public

    @cached_property
    def _of_count(self) -> Mapping[int, float]:
        # One more person than there is: in a class of copies, what all have in common still says something.
        everyone = max(self._people, 2) + 1
        scale = math.log(everyone / 2)
        return {count: min(1.0, math.log(everyone / count) / scale) for count in range(1, everyone)}

    def weights(self, prints: Fingerprints) -> dict[int, float]:
        """By fingerprint, without those that say nothing."""
        handout, styles = self._public.handout, self._public.styles
        return {
            mark: self._of_count[max(1, self._counts[mark])] * (_KNOWN_STYLE if mark in styles else 1.0)
            for mark in prints.marks
            if mark not in handout
        }

    def commonplace(self, prints: Fingerprints) -> frozenset[int]:
        """The fingerprints that are too frequent to be worth a look."""
        weights = self.weights(prints)
        return frozenset(mark for mark in prints.marks if weights.get(mark, 0.0) < _NOTABLE)
