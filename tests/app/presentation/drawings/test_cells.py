"""Devices are cells in the mesh's own proportions, darker where they hold more bytes, and the same is said in words."""

import xml.etree.ElementTree as ElementTree

import pytest

from app.presentation.drawings.cells import Cell, axes_in_words, draw_cells, heat_cells, sizes_in_words
from app.presentation.drawings.placement import Mesh


def _drawn(axes, **options):
    mesh = Mesh.of(axes)
    cells = [Cell("heat-1", "1 B", mesh.coordinates(device)) for device in range(mesh.devices)]
    return ElementTree.fromstring(draw_cells(mesh, cells, "t", "d", **options))


def _grid(root):
    """The number of rows and of columns."""
    cells = list(root.iter("rect"))
    return len({each.get("y") for each in cells}), len({each.get("x") for each in cells})


@pytest.mark.parametrize(
    ("axes", "grid", "words"),
    [
        ({}, (1, 1), ""),
        ({"fsdp": 8}, (1, 8), "fsdp \u2192"),
        ({"fsdp": 256}, (8, 32), "fsdp \u2192"),
        ({"fsdp": 64}, (4, 16), "fsdp \u2192"),
        ({"data": 2, "model": 4}, (2, 4), "data \u2193 model \u2192"),
        ({"data": 4, "model": 2}, (4, 2), "data \u2193 model \u2192"),
        ({"data": 8, "model": 8}, (8, 8), "data \u2193 model \u2192"),
        ({"data": 64, "model": 4}, (4, 64), "model \u2193 data \u2192"),
        ({"pod": 2, "data": 2, "model": 2}, (2, 4), "data \u2193 pod, model \u2192"),
    ],
)
def test_a_mesh_has_its_own_proportions(axes, grid, words):
    assert _grid(_drawn(axes)) == grid
    assert axes_in_words(Mesh.of(axes)) == words


def test_cells_stay_within_the_drawing():
    for axes in ({"a": 8, "b": 8}, {"a": 2, "b": 2, "c": 8}, {"a": 7}):
        root = _drawn(axes)
        _, _, width, height = map(float, root.find("svg").get("viewBox").split())
        for each in root.iter("rect"):
            assert float(each.get("x")) + float(each.get("width")) < width
            assert float(each.get("y")) + float(each.get("height")) < height


def test_cells_have_texts_while_there_is_room():
    assert len(list(_drawn({"a": 16}).iter("text"))) == 16
    assert list(_drawn({"a": 17}).iter("text")) == []
    small = _drawn({"a": 4}, small=True)
    assert (small.tag, list(small.iter("text"))) == ("svg", [])


def test_heat_is_the_share_of_everything():
    cells = heat_cells(Mesh.of({"a": 4}), [0, 10, 50, 100])
    assert [each.look for each in cells] == ["heat-0", "heat-1", "heat-2", "heat-4"]
    assert cells[1].title == "device 1: 10 B"
    assert heat_cells(Mesh.of({"a": 2, "b": 1}), [1, 1])[1].title == "device 1 (a 1, b 0): 1 B"
    assert [each.look for each in heat_cells(Mesh.of({"a": 2}), [0, 0])] == ["heat-0", "heat-0"]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([7], "7 B"),
        ([7] * 64, "7 B on each of the 64 devices"),
        ([1, 1, 2], "1 B on devices 0 to 1, 2 B on device 2"),
        (list(range(10)), ", ".join(f"{each} B on device {each}" for each in range(8)) + ", and 2 more ranges"),
    ],
)
def test_sizes_in_words(sizes, words):
    assert sizes_in_words(sizes) == words
