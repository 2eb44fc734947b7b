"""Labelled pairs of solutions of eight problems that ship with the service: copied, or written by two people alone.

In the class of each problem are eight people:

- dana and omar, who wrote a solution each (students/PROBLEM/), in styles of their own;
- three authors of accepted submissions that ship with the problem. Their files are taken out of the problem first, so
  that no report knows them, and the other files of the problem remain what it knows;
- dana_copied, written by hand: dana's solution with other names, imports and comments, functions in another order,
  operands swapped, and some lines split, joined or moved;
- copies of omar's solution and of the first author's that a program disguised as well as it can (`thorough`).

A copy and its original are a copied pair. All other pairs of these eight people are independent.
"""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from app.teaching.similarity.compare import compare
from app.teaching.similarity.fingerprints import fingerprints
from app.teaching.similarity.rarity import PublicCode
from tests.app.teaching.similarity.disguises import thorough

_STUDENTS = Path(__file__).parent / "students"
_PACKAGES = Path("problems")
PROBLEMS = sorted(each.name for each in _STUDENTS.iterdir() if each.is_dir())
_AUTHORS = 3


@dataclass(frozen=True)
class LabelledClass:
    """`copies` has the original of each copy."""

    sources: dict[str, str]
    copies: dict[str, str]
    public: PublicCode

    def labels(self) -> dict[frozenset[str], bool]:
        """Whether each pair of people is a copied one."""
        copied = {frozenset(each) for each in self.copies.items()}
        return {frozenset(pair): frozenset(pair) in copied for pair in combinations(self.sources, 2)}

    def found(self) -> set[frozenset[str]]:
        """The pairs that a report lists."""
        prints = {key: fingerprints(source) for key, source in self.sources.items()}
        return {frozenset((each.one, each.other)) for each in compare(prints, self.public)}


def labelled_class(slug: str) -> LabelledClass:
    package = _PACKAGES / slug
    shipped = sorted((package / "submissions/accepted").glob("*.py"))
    authors = shipped[:: len(shipped) // _AUTHORS][:_AUTHORS]
    sources = {each.stem: each.read_text() for each in (*sorted((_STUDENTS / slug).glob("*.py")), *authors)}
    copies = {"dana_copied": "dana"}
    for original in ("omar", authors[0].stem):
        sources[f"{original}_copied"] = thorough(sources[original])
        copies[f"{original}_copied"] = original
    styles = [each.read_text() for each in (package / "reference.py", *shipped) if each not in authors]
    return LabelledClass(sources, copies, PublicCode.of([(package / "starter.py").read_text()], styles))
