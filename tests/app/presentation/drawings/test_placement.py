"""Leaves with one placement share a drawing, names are shortened, and leaves that do not fit the mesh are left out."""

import pytest

from app.presentation.drawings.placement import Mesh, group_leaves, label
from grader.verdicts.evidence import Leaf
from tests.app.program_verdict import leaf, sharding

MESH = {"fsdp": 8}


def _one(**changes: object):
    found = leaf(MESH, "w", [8], [("fsdp",)]).model_copy(update=changes)
    (group,) = group_leaves([found], Mesh.of(MESH))
    return group


def test_devices_are_numbered_row_by_row():
    mesh = Mesh.of({"data": 2, "fsdp": 4})
    assert [mesh.coordinates(device) for device in (0, 3, 4)] == ["data 0, fsdp 0", "data 0, fsdp 3", "data 1, fsdp 0"]
    assert str(mesh) == "data = 2, fsdp = 4"


def test_leaves_that_are_placed_alike_are_one_and_wrong_ones_come_first():
    leaves = group_leaves(sharding(MESH, wrong=True).leaves, Mesh.of(MESH))
    assert [leaf.ok for leaf in leaves] == sorted(leaf.ok for leaf in leaves)
    assert leaves[0].paths == ("params/w1", "mu/w1", "nu/w1")
    right = next(leaf for leaf in leaves if leaf.paths[0] == "params/b1")
    assert right.when == "in and out"


@pytest.mark.parametrize("held", [None, (), (((0, 1),),) * 7, ((),) * 8, (((0, 1), (0, 1)),) * 8])
def test_slices_that_do_not_fit_the_mesh_or_the_leaf_are_not_drawn(held: object):
    assert _one(got=held).got is None


def test_more_devices_than_a_drawing_has_room_for_are_not_drawn():
    mesh = {"fsdp": 257}
    many = leaf(mesh, "w", [257], [("fsdp",)])
    assert isinstance(many, Leaf)
    assert group_leaves([many], Mesh.of(mesh))[0].got is None


def test_slices_beyond_the_leaf_are_cut():
    assert _one(got=(((4, 10**12),),) * 8).got == (((4, 8),),) * 8
    assert _one(got=(((9, 3),),) * 8).got == (((8, 8),),) * 8


def test_names_are_one_line_of_bounded_length():
    text = label("first\nsecond\t" + "x" * 10_000)
    assert len(text) == 160
    assert "\n" not in text
    assert "\t" not in text
