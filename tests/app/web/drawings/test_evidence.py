"""Evidence of any form is read or left out; nothing raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.drawings import evidence as read
from app.web.program_view import arrange_meshes
from tests.app.program_verdict import leaf, program_verdict, sharding

MESH = {"fsdp": 8}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def _mesh() -> read.Mesh:
    mesh = read.read_mesh(MESH)
    assert mesh is not None
    return mesh


def test_devices_are_numbered_row_by_row():
    mesh = read.read_mesh({"data": 2, "fsdp": 4})
    assert mesh is not None
    assert [mesh.coordinates(device) for device in (0, 3, 4)] == ["data 0, fsdp 0", "data 0, fsdp 3", "data 1, fsdp 0"]
    assert str(mesh) == "data = 2, fsdp = 4"


@pytest.mark.parametrize("mesh", [None, [], {"fsdp": 0}, {"fsdp": "8"}, {"fsdp": True}, {"a": 10**6, "b": 10**6}])
def test_a_mesh_of_another_form_is_none(mesh):
    assert read.read_mesh(mesh) is None


def test_leaves_that_are_placed_alike_are_one_and_wrong_ones_come_first():
    leaves = read.read_leaves(sharding(MESH, wrong=True)["leaves"], _mesh())
    assert [leaf.ok for leaf in leaves] == sorted(leaf.ok for leaf in leaves)
    assert leaves[0].paths == ("params/w1", "mu/w1", "nu/w1")
    right = next(leaf for leaf in leaves if leaf.paths[0] == "params/b1")
    assert right.when == "in and out"


def test_a_leaf_that_does_not_say_that_it_is_right_is_wrong():
    entry = leaf(MESH, "w", [8], [("fsdp",)])
    del entry["ok"]
    assert not read.read_leaves([entry], _mesh())[0].ok


@pytest.mark.parametrize("missing", ["when", "shape", "dtype", "expected_spec", "got_spec", "expected", "got"])
def test_a_missing_key_leaves_the_rest(missing):
    entry = leaf(MESH, "w", [8], [("fsdp",)])
    del entry[missing]
    assert read.read_leaves([entry], _mesh())[0].paths == ("w",)


@pytest.mark.parametrize("held", [None, [], [[[0, 1]]] * 7, [[[0]]] * 8, [[["a", 1]]] * 8, [[[0, 1], [0, 1]]] * 8, 3])
def test_slices_of_another_form_are_not_drawn(held):
    assert read.read_leaves([leaf(MESH, "w", [8], [("fsdp",)]) | {"got": held}], _mesh())[0].got is None


def test_slices_beyond_the_leaf_are_cut():
    (found,) = read.read_leaves([leaf(MESH, "w", [8], []) | {"got": [[[4, 10**12]]] * 8}], _mesh())
    assert found.got == (((4, 8),),) * 8


def test_texts_are_harmless_and_bounded():
    text = read.read_text("\x1b[31mred\x1b[0m\u202egnp\n" + "x" * 10_000)
    assert len(text) == 160
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\n" not in text


@pytest.mark.parametrize("count", [-1, True, "8", 10**400, 1.5, float("nan"), float("inf"), None])
def test_a_number_that_cannot_be_drawn_is_none(count):
    assert read.read_count(count) is None


@given(JSON, JSON)
def test_any_evidence_is_arranged(mesh: Any, rest: Any):
    keys = ("leaves", "rows", "timeline", "mine", "reference", "whole", "donated", "state")
    for entry in ({"mesh": mesh}, {"mesh": MESH} | dict.fromkeys(keys, rest), rest):
        arrange_meshes({"meshes": [entry]})
    arrange_meshes({"meshes": rest})
    row = {
        "path": "w",
        "name": "n",
        "kind": "k",
        "axes": rest,
        "shape": rest,
        "expected": rest,
        "got": rest,
        "mine": rest,
    }
    arrange_meshes({"meshes": [{"mesh": MESH, "leaves": [row], "rows": [row], "timeline": {"mine": [row]}}]})


def test_all_that_a_judge_stores_is_drawn_and_nothing_is_left_over():
    for check in json.loads(program_verdict(wrong=True).model_dump_json())["checks"]:
        views = arrange_meshes(check["evidence"])
        assert len(views) == (2 if check["evidence"] else 0)
        assert all(view.is_drawn and view.rest == {} for view in views)
