"""Each device is drawn with the slice that it holds; slices, letters and words agree."""

import re

import pytest

from app.core.web.static_files import static_file
from app.presentation.drawings.mesh import describe, draw_mesh, drawn_dims, letters_of, slices_text
from app.presentation.drawings.placement import Leaf, Mesh, group_leaves
from tests.app.program_verdict import Spec, leaf

FSDP = {"fsdp": 8}
HSDP = {"data": 2, "fsdp": 4}


def _read(mesh: dict[str, int], shape: list[int], expected: Spec, got: Spec | None = None) -> tuple[Mesh, Leaf]:
    (found,) = group_leaves([leaf(mesh, "params/w", shape, expected, got)], Mesh.of(mesh))
    return Mesh.of(mesh), found


def _rects(root, class_):
    return [rect for rect in root.iter("rect") if class_ in rect.get("class", "").split()]


def test_a_row_of_eight_holds_eight_slices_one_below_the_other(parse):
    mesh, w = _read(FSDP, [64, 64], [("fsdp",), ()])
    assert w.got is not None
    root = parse(draw_mesh(mesh, w, w.got, title="w"))
    shards = _rects(root, "shard")
    assert len(shards) == len(_rects(root, "leaf")) == 8
    tops = [float(rect.get("y")) for rect in shards]
    assert tops == sorted(tops)
    assert len(set(tops)) == 8
    assert {rect.get("height") for rect in shards} == {"4.25"}
    assert [text.text for text in root.iter("text") if text.get("class") == "letter"] == list("ABCDEFGH")
    assert root.find("desc").text == "Split into 8 slices, one on each device."


def test_a_mesh_of_two_axes_is_a_grid_and_copies_share_a_letter(parse):
    mesh, w = _read(HSDP, [64, 64], [("fsdp",), ()])
    root = parse(draw_mesh(mesh, w, w.got, title="w"))
    boxes = _rects(root, "leaf")
    assert len({box.get("y") for box in boxes}) == 2
    assert len({box.get("x") for box in boxes}) == 4
    assert [text.text for text in root.iter("text") if text.get("class") == "letter"] == list("ABCDABCD")
    assert describe(mesh, w.got, w) == "Split into 4 slices, each on 2 devices."


def test_three_axes_are_rows_of_the_last_one(parse):
    mesh, w = _read({"data": 2, "fsdp": 2, "tp": 2}, [8, 8], [("fsdp",), ("tp",)])
    root = parse(draw_mesh(mesh, w, w.got, title="w"))
    assert len({box.get("y") for box in _rects(root, "leaf")}) == 4
    assert "1,0" in [text.text for text in root.iter("text")]


def test_devices_that_hold_something_else_are_marked_without_colour(parse):
    mesh, w = _read(FSDP, [64, 64], [("fsdp",), ()], [(), ()])
    root = parse(draw_mesh(mesh, w, w.got, title="w", compare_with=w.expected))
    assert len(_rects(root, "wrong")) == 8
    assert len([path for path in root.iter("path") if path.get("class") == "hatch"]) == 8
    assert [text.text for text in root.iter("text") if "letter" in text.get("class")] == ["all ✗"] * 8
    assert _rects(parse(draw_mesh(mesh, w, w.expected, title="w")), "wrong") == []


def test_expected_and_got_share_their_letters():
    _, w = _read({"fsdp": 4}, [8, 8], [("fsdp",), ()], [(), ("fsdp",)])
    assert sorted(letters_of(w).values()) == list("ABCDEFGH")
    _, whole = _read({"fsdp": 4}, [8, 8], [("fsdp",), ()], [(), ()])
    assert sorted(letters_of(whole).values()) == ["A", "B", "C", "D", "all"]


@pytest.mark.parametrize(
    ("shape", "spec", "dims"),
    [
        ([], [], ()),
        ([256], [("fsdp",)], (0,)),
        ([4, 16, 8, 32], [(), (), ("fsdp",)], (2, 3)),
        ([8, 16, 8], [("fsdp",)], (0, 2)),
        ([2, 3, 5], [], (1, 2)),
    ],
)
def test_the_dims_that_are_split_are_drawn(parse, shape, spec, dims):
    mesh, w = _read(FSDP, shape, spec)
    assert drawn_dims(w) == dims
    parse(draw_mesh(mesh, w, w.got, title="w"))


def test_of_three_split_dims_the_last_two_are_drawn_and_letters_tell_all_apart():
    _, w = _read({"a": 2, "b": 2, "c": 2}, [4, 4, 4], [("a",), ("b",), ("c",)])
    assert drawn_dims(w) == (1, 2)
    assert len(letters_of(w)) == 8


def test_a_scalar_and_a_replicated_leaf_are_whole_everywhere():
    for shape in ([], [8, 8]):
        mesh, w = _read(FSDP, shape, [])
        assert describe(mesh, w.got, w) == "Whole on each of the 8 devices."


def test_a_leaf_without_elements_is_drawn_empty(parse):
    mesh, w = _read(FSDP, [0, 16], [])
    assert _rects(parse(draw_mesh(mesh, w, w.got, title="w")), "shard") == []


def test_a_very_flat_leaf_shows_every_slice(parse):
    mesh, w = _read(FSDP, [8, 100_000], [("fsdp",)])
    shards = _rects(parse(draw_mesh(mesh, w, w.got, title="w")), "shard")
    assert min(float(rect.get("height")) for rect in shards) >= 1.5
    assert len({rect.get("y") for rect in shards}) == 8


def test_sixty_four_devices_fit_and_letters_go_on_after_z(parse):
    mesh, w = _read({"fsdp": 64}, [64], [("fsdp",)])
    root = parse(draw_mesh(mesh, w, w.got, title="w"))
    assert len({box.get("y") for box in _rects(root, "leaf")}) == 8
    assert letters_of(w)[((63, 64),)] == "BL"


def test_titles_and_names_of_axes_are_escaped(parse):
    hostile = "</title><script>alert(1)</script>"
    mesh, w = _read({hostile: 2, '"><img src=x onerror=alert(1)>': 2}, [8], [(hostile,)])
    svg = draw_mesh(mesh, w, w.got, title=hostile)
    assert "<script" not in svg
    assert "<img" not in svg
    assert parse(svg)[0].text == hostile


def test_slices_are_written_as_in_python():
    assert slices_text(((0, 8), (0, 256)), (64, 256)) == "[0:8, :]"
    assert slices_text((), ()) == ""


@pytest.mark.parametrize(("devices", "kind"), [(8, "shard"), (16, "swatch"), (32, "swatch"), (64, "swatch")])
def test_no_two_slices_look_the_same(parse, devices, kind):
    mesh, w = _read({"fsdp": devices}, [devices, 8], [("fsdp",), ()])
    assert w.got is not None
    root = parse(draw_mesh(mesh, w, w.got, title="w"))
    assert len(_rects(root, "swatch")) == (devices if devices > 8 else 0)
    classes = [rect.get("class") for rect in _rects(root, kind)]
    assert len(set(classes)) == devices
    style = static_file("presentation/drawings.css").read_text()
    for each in set(" ".join(classes).split()) - {"shard"}:
        assert re.search(rf"\.{each}\b", style), each


def test_a_whole_leaf_takes_no_colour_from_the_slices(parse):
    where, w = _read({"fsdp": 8}, [64, 64], [(), ()], [("fsdp",), ()])
    assert w.got is not None
    root = parse(draw_mesh(where, w, w.got, title="w"))
    assert [rect.get("class") for rect in _rects(root, "shard")] == [f"shard shard-{n}" for n in range(1, 9)]
