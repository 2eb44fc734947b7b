"""What a statement leaves free, by its tables and sentences, and what hidden cases vary."""

from dataclasses import replace

import numpy as np
import pytest

from grader.review.case_variety import unvaried
from grader.review.reader import read_package
from tests.grader.review.test_rules import PACKAGES
from tests.grader.shipped_submissions import package

ADD_ONE = read_package(PACKAGES / "add_one")


def found(statement, *shapes, **numbers):
    problem = replace(ADD_ONE, statement=statement)
    return list(unvaried(problem, [{"x": np.zeros(shape), **numbers} for shape in shapes]))


@pytest.mark.parametrize(
    "statement",
    [
        "| `x` | array `(N, 3)`, float32 | numbers |",
        "| `x`, `y` | `(N, 3)` and `(N, 4)`, float32 | numbers |",
        "| `y`, `x` | `(N, 4)` and `(N, 3)`, float32 | numbers |",
        "| `x` | `[8, 3]` | `[32000, 4096]` |",
        "`x` and `y` are `(N, 3)` int32. `y` is not `(8, 4)`.",
    ],
)
def test_a_dimension_that_the_statement_fixes_may_stay(statement):
    assert found(statement, (8, 3), (16, 3)) == []
    (free,) = found(statement.replace("8, ", "N, "), (8, 3), (8, 3))
    assert free == "dimension 0 (`N`) of `x` is 8 in every hidden case"


def test_a_sentence_fixes_a_size_or_a_number():
    row = "| `x` | `(N, 3)` | numbers |\n\n"
    assert found(f"{row}`N` is 8: one row for each device.", (8, 3), lr=0.5) == ["`lr` is 0.5 in every hidden case"]
    assert found(f"{row}$N$ is 8, and `lr` is 0.5.", (8, 3), lr=0.5) == []
    assert found(f"{row}`N` is 80.", (8, 3)) == ["dimension 0 (`N`) of `x` is 8 in every hidden case"]


def test_what_the_statement_says_nothing_of_is_free():
    assert found("An array `x`.", (8, 3), (8, 4)) == ["dimension 0 of `x` is 8 in every hidden case"]
    assert found("An array `x` of 1 or 2 dimensions.", (8,), (8, 4)) == []
    assert found("A scalar `x`.", (), ()) == []


def test_another_number_than_the_stated_one_is_not_fixed():
    assert found("| `x` | `(8, 3)` |", (16, 3), (16, 3)) == ["dimension 0 of `x` is 16 in every hidden case"]


def test_a_seed_that_is_traced_has_32_bits():
    problem = package("sharded_init")
    fixed = {"tokens": np.zeros((1, 8, 6)), "targets": np.zeros((1, 8, 6))}
    (small,) = unvaried(problem, [{"seed": seed, **fixed} for seed in (3, 2**31 - 1)])
    assert small == "`seed` is a uint32, but no hidden case has one above 2,147,483,647: use 2,147,483,648 or more"
    assert list(unvaried(problem, [{"seed": seed, **fixed} for seed in (3, 2**31)])) == []
