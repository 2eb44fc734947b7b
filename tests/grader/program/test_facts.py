"""The facts of a program cross a boundary: what comes back is the same, or an error."""

import json
from dataclasses import replace

import pytest

from grader.program.facts import ProgramLeaf, from_json, to_json
from grader.program.tokens import ProgramUnreadable
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, product, program, split

FACTS = program(EIGHT, flops=8_000, dots=[product()], collectives=[exchange("all-gather", 32_768)]).facts


def with_leaf(leaf: ProgramLeaf) -> object:
    return json.loads(json.dumps(to_json(replace(FACTS, inputs=(leaf, FACTS.inputs[1])))))


def with_slice(*slices: tuple[int, int]) -> object:
    leaf = split((512, 16), 8)
    return with_leaf(replace(leaf, slices=(slices, *leaf.slices[1:])))


def test_what_is_written_is_read() -> None:
    assert from_json(json.loads(json.dumps(to_json(FACTS)))) == FACTS


@pytest.mark.parametrize("rows", [(0, 0), (512, 512), (0, 512), (511, 512)])
def test_a_slice_may_be_any_part_of_its_leaf(rows: tuple[int, int]) -> None:
    assert from_json(with_slice(rows, (0, 16))).inputs[0].slices[0] == (rows, (0, 16))


@pytest.mark.parametrize(
    "slices",
    [((0, 513), (0, 16)), ((2, 1), (0, 16)), ((0, 512), (0, 17)), ((0, 512),), ((0, 512), (0, 16), (0, 1))],
    ids=["too long", "backwards", "too wide", "too few", "too many"],
)
def test_a_slice_that_does_not_fit_its_leaf_is_refused(slices: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ProgramUnreadable, match="does not fit its leaf's shape"):
        from_json(with_slice(*slices))


def test_every_device_has_a_slice() -> None:
    leaf = split((512, 16), 8)
    with pytest.raises(ProgramUnreadable, match="does not have one slice per device"):
        from_json(with_leaf(replace(leaf, slices=leaf.slices[1:])))


def test_the_census_is_read_as_strictly() -> None:
    facts = json.loads(json.dumps(to_json(FACTS)))
    facts["census"]["collectives"][0]["kind"] = "all-at-once"
    with pytest.raises(ProgramUnreadable, match="unknown collective 'all-at-once'"):
        from_json(facts)


def test_a_dtype_that_does_not_cross_the_wire_is_refused() -> None:
    with pytest.raises(ProgramUnreadable, match="dtype float77"):
        from_json(with_leaf(replace(split((512, 16), 8), dtype="float77")))
