"""A value from a verifier is read as its type says, or refused with its place."""

from dataclasses import dataclass

import pytest

from grader.program.strict_json import read, write
from grader.program.tokens import ProgramUnreadable


@dataclass(frozen=True)
class Leaf:
    name: str
    sizes: tuple[int, ...]
    line: int | None
    is_donated: bool
    pair: tuple[int, str]


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    within: "Tree | None"


LEAF = Leaf("w", (8, 4), None, True, (1, "x"))
TREE = Tree((LEAF, LEAF), Tree((), None))


def test_what_is_written_is_read_again() -> None:
    assert read(Tree, write(TREE), "facts") == TREE


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": 3}, "facts.leaves[1].name: expected a value of type str, found 3"),
        ({"sizes": [8, -1]}, "facts.leaves[1].sizes[1]: expected a number from 0 to 2**63 - 1, found -1"),
        ({"line": 2**63}, "facts.leaves[1].line: expected a number from 0 to 2**63 - 1, found 9223372036854775808"),
        ({"sizes": [True]}, "facts.leaves[1].sizes[0]: expected a value of type int, found True"),
        ({"sizes": [8.0]}, "facts.leaves[1].sizes[0]: expected a value of type int, found 8.0"),
        ({"sizes": {}}, "facts.leaves[1].sizes: expected a list, found {}"),
        ({"line": "7"}, "facts.leaves[1].line: expected a value of type int, found '7'"),
        ({"is_donated": 1}, "facts.leaves[1].is_donated: expected a value of type bool, found 1"),
        ({"is_donated": None}, "facts.leaves[1].is_donated: expected a value of type bool, found None"),
        ({"pair": [1]}, "facts.leaves[1].pair: expected 2 items, found [1]"),
        ({"pair": ["x", 1]}, "facts.leaves[1].pair[0]: expected a value of type int, found 'x'"),
        ({"more": 1}, "facts.leaves[1]: fields are missing or unknown: more"),
    ],
)
def test_another_value_is_refused_with_its_place(changes: dict[str, object], said: str) -> None:
    written = write(TREE) | {"leaves": [write(LEAF), write(LEAF) | changes]}
    with pytest.raises(ProgramUnreadable) as error:
        read(Tree, written, "facts")
    assert str(error.value) == said


def test_the_whole_value_must_be_an_object() -> None:
    with pytest.raises(ProgramUnreadable, match=r"^facts: expected an object, found \[\]$"):
        read(Tree, [], "facts")
