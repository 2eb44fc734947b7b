"""The outline of a program: what it takes, sends and returns, from an exploration and from a case of call mode."""

import json
import re

import numpy as np
import pytest

from app.core.web.units import TIMES
from app.learning.explorer.examples import shipped_results
from app.presentation.outline import MAX_LEAVES, arrange_outline, outline_of, outline_of_call
from grader.verdicts.pictures import Outline


@pytest.fixture(params=sorted(shipped_results()))
def program(request):
    return shipped_results()[request.param].programs[0]


def test_every_leaf_and_collective_is_drawn_or_counted(program):
    found = outline_of(program)
    for leaves, others, when in (
        (found.inputs, found.other_inputs, "in"),
        (found.outputs, found.other_outputs, "out"),
    ):
        assert len(leaves) <= MAX_LEAVES
        paths = {each.path for each in program.leaves.leaves if each.when == when}
        assert sum(1 + each.others for each in leaves) + others == len(paths)
    assert sum(each.number for each in found.collectives) + found.other_collectives == len(program.collectives)
    assert Outline.model_validate_json(found.model_dump_json(exclude_defaults=True)) == found


def test_without_lines_nothing_of_the_source_is_in_it(program):
    assert [each.line for each in outline_of(program, with_lines=False).collectives if each.line is not None] == []


def test_neighbours_that_are_alike_are_one_row():
    program = shipped_results()["training-step"].programs[0]
    [first, *_] = program.collectives
    third = first.model_copy(update={"collective": "all-to-all"})
    found = outline_of(program.model_copy(update={"collectives": [first, first, third]}))
    view = arrange_outline(found)
    assert [each.number for each in found.collectives] == [2, 1]
    assert view.collectives[0].name == f"2 {TIMES} {first.collective}"
    assert view.collectives[0].size.startswith("sends ")
    assert found.collectives[0].sent == 2 * first.sent_bytes


def test_a_case_of_call_mode_shows_its_arrays_in_proportion():
    inputs = {"x": np.zeros((4, 16), "float32"), "lr": 0.1, "name": "sgd", "state": {"w": [np.zeros(3, "int32")]}}
    found = outline_of_call(inputs, {"": np.zeros((), "float32")})
    assert [(each.path, each.dtype, each.shape) for each in found.inputs] == [
        ("x", "float32", (4, 16)),
        ("lr", "float", ()),
        ("state/w/0", "int32", (3,)),
    ]
    assert [each.path for each in found.outputs] == ["result"]
    view = arrange_outline(found)
    width, height = map(
        float, re.findall(r'<rect .*?width="([\d.]+)" height="([\d.]+)"', str(view.inputs[0].drawing))[0]
    )
    assert width > height
    assert (view.mesh, str(view.inputs[1].drawing)) == ("", "")


def test_names_of_a_program_cannot_become_markup():
    program = shipped_results()["training-step"].programs[0]
    leaf = program.leaves.leaves[0].model_copy(update={"path": "<b>" + "a" * 500})
    leaves = program.leaves.model_copy(update={"leaves": [leaf]})
    found = outline_of(program.model_copy(update={"leaves": leaves}))
    drawn = str(arrange_outline(found).inputs[0].drawing)
    assert "<b>" not in drawn
    assert len(json.loads(found.model_dump_json())["inputs"][0]["path"]) <= 160
