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


def test_a_seed_has_more_than_16_bits():
    cases = [{"x": np.zeros((rows, rows + 1)), "seed": rows} for rows in (8, 2**15)]
    small = "`seed` is any number, but no hidden case has one above 32,768: use 65,536 or more"
    assert list(unvaried(ADD_ONE, cases)) == [small]
    assert list(unvaried(ADD_ONE, [*cases, {"x": np.zeros((3, 4)), "seed": 2**16}])) == []


@pytest.mark.parametrize(
    ("words", "values", "missing"),
    [
        ("int, at least 2", (5, 9), ["least 2"]),
        ("int, at least 2", (5, 2), []),
        ("a number from 0 to 1", (0.5, 0.25), ["least 0", "most 1"]),
        ("a number from 0 to 1", (0.0, 1.0), []),
        ("`(N,)`, int32, 0 to 4", (np.array([0, 3]), np.array([2, 1, 1])), ["most 4"]),
        ("`(N,)`, int32, `N` is at least 8", (np.array([0, 3]), np.array([2, 1, 1])), []),
        ("a number, at least 2.5", (3.0, 4.0), []),
        ("int, at least 1,000", (1_001, 1_002), []),
        (f"int, at least {'9' * 5_000}", (5, 9), []),
        ("`(N, 3)`, float32, from 40 to 128", (np.zeros((3, 3)), np.zeros((4, 3))), []),
    ],
)
def test_the_ends_of_a_stated_range_must_be_reached(words, values, missing):
    problem = replace(ADD_ONE, statement=f"| name | type |\n|---|---|\n| `x` | {words} |\n")
    ends = [each for each in unvaried(problem, [{"x": each} for each in values]) if "at " in each]
    assert ends == [f"`x` is at {end}, but it is {end.split()[1]} in no hidden case" for end in missing]


def with_mask(*rows):
    problem = replace(ADD_ONE, statement="`mask` says which tokens count.")
    mask = np.array(rows, np.float32)
    return [
        each for each in unvaried(problem, [{"mask": mask}, {"mask": mask[:, :-1]}]) if "rows" in each or "row " in each
    ]


@pytest.mark.parametrize(
    ("rows", "where"), [(([1, 1, 0, 0], [1, 0, 0, 0]), "begins"), (([0, 0, 1, 1], [0, 1, 1, 1]), "ends")]
)
def test_a_mask_must_not_be_a_length_in_every_case(rows, where):
    (found,) = with_mask(*rows)
    assert found == f"in every hidden case, each row of `mask` {where} with all of its ones, so its sum is as good"


def test_a_mask_with_holes_or_with_padding_on_both_sides_varies():
    assert with_mask([1, 0, 1, 0], [1, 1, 1, 0]) == []
    assert with_mask([1, 1, 0, 0], [0, 0, 1, 1]) == []
    # Other numbers are not a mask.
    assert with_mask([2, 1, 0, 0], [2, 1, 1, 0]) == []


def with_code(statement, *codes):
    problem = replace(ADD_ONE, statement=statement)
    return list(unvaried(problem, [{"code": each} for each in ("", *codes)]))


def test_names_that_are_sorted_must_have_numbers_of_two_lengths():
    statement = "Rows are in the order of their names alphabetically."
    (found,) = with_code(statement, "self.layer2 = 1\nself.layer3 = 2")
    assert "both `layer2` and `layer10`" in found
    assert with_code(statement, "self.layer2 = 1\nself.layer10 = 2") == []
    assert with_code(statement, "setattr(self, f'layer{number}', 1)") == []
    assert with_code("Any names.", "self.layer2 = 1") == []


def test_models_of_any_form_must_include_one_that_refers_to_itself():
    (found,) = with_code(
        "It works for any nnx model.", "class Model:\n    def __init__(self):\n        self.a = Block(1)"
    )
    assert found == "a model may be any graph, but in no hidden case does one refer to itself"
    assert (
        with_code("It works for any nnx model.", "class M:\n    def __init__(self):\n        self.a = Block(self)")
        == []
    )


@pytest.mark.parametrize("text", ["not Python at all", "(" * 5000, "\0"], ids=["words", "brackets", "NUL"])
def test_a_text_that_is_not_python_is_no_model(text):
    assert with_code("It works for any nnx model.", text) == [
        "a model may be any graph, but in no hidden case does one refer to itself"
    ]


@pytest.mark.parametrize("slug", ["nnx_state_paths", "token_weighted_loss"])
def test_the_structure_of_shipped_cases_varies(slug):
    names = {"__name__": "cases"}
    exec(package(slug).cases, names)
    hidden = list(names["hidden_cases"](np.random.default_rng(5)))
    assert list(unvaried(package(slug), hidden)) == []
