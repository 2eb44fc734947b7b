"""Collectives are listed in program order, with their axes and bytes, the line that causes them, and their loops."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

from app.presentation.drawings.timeline import MAX_BLOCKS, Call, block_text, draw_strip, draw_timeline

GATHER = Call("all-gather", ("fsdp",), 65_536, 24, True)
REDUCE = Call("all-reduce", ("data", "fsdp"), 1024, 1, False)


def _rows(root):
    return ["".join(row.itertext()) for row in root.iter("li")]


def _drawn(programs, anchors=None):
    return ElementTree.fromstring(draw_timeline("order", programs, anchors))


def test_a_row_says_name_axes_loop_and_bytes_in_program_order():
    root = _drawn({"yours": [GATHER, REDUCE], "reference": [REDUCE]})
    assert root.get("aria-label") == "order"
    assert _rows(root) == [
        "24 \N{MULTIPLICATION SIGN} all-gather over fsdp in a loopsends 1.5 MiB",
        "all-reduce over data, fsdpsends 1.0 KiB",
        "all-reduce over data, fsdpsends 1.0 KiB",
    ]
    assert [name.text for name in root.iter("strong")][::3] == ["yours", "reference"]
    first, second, _ = (float(bar.get("width", "")) for bar in root.iter("rect"))
    assert 99 < first < 100
    assert second == 1


def test_one_program_needs_no_name():
    assert "yours" not in "".join(_drawn({"yours": [REDUCE]}).itertext())


def test_a_row_leads_to_the_line_that_causes_it():
    root = _drawn({"a": [GATHER, REDUCE]}, {"a": ["line-6", ""]})
    assert [(link.text, link.get("href")) for link in root.iter("a")] == [("line 6", "#line-6")]
    assert [row.get("data-of-line") for row in root.iter("li")] == ["line-6", None]


def test_loops_are_told_apart_without_colour():
    assert [row.get("class") for row in _drawn({"a": [GATHER, REDUCE]}).iter("li")] == ["kind-1 is-looped", "kind-2"]


def test_neighbours_of_different_sizes_are_one_row_with_their_sum():
    [row] = _rows(_drawn({"a": [REDUCE, replace(REDUCE, bytes=2048)]}))
    assert row == "2 \N{MULTIPLICATION SIGN} all-reduce over data, fsdpsends 3.0 KiB"


def test_equal_collectives_in_a_row_are_one_row():
    root = _drawn({"a": [REDUCE, REDUCE, GATHER, REDUCE]}, {"a": ["line-6", "line-6", "line-6", "line-7"]})
    assert [row.split(" over")[0] for row in _rows(root)] == [
        "2 \N{MULTIPLICATION SIGN} all-reduce", "24 \N{MULTIPLICATION SIGN} all-gather", "all-reduce",
    ]  # fmt: skip


def test_a_program_without_a_collective_says_so():
    text = "".join(_drawn({"yours": [], "reference": []}).itertext())
    assert text == "yoursNo communication between devices.referenceNo communication between devices."


def test_a_timeline_has_a_bound():
    calls = [Call("all-reduce", (str(axis),), 1, 1, False) for axis in range(1000)]
    root = _drawn({"yours": calls})
    assert len(_rows(root)) == MAX_BLOCKS
    assert root.find(".//summary").text == "54 more"


def test_blocks_of_no_bytes_and_unknown_kinds_are_drawn():
    odd = Call("<b>odd</b>", None, 0, None, True)
    assert _rows(_drawn({"yours": [odd]})) == ["? \N{MULTIPLICATION SIGN} <b>odd</b> in a loopsends 0 B each time"]
    assert block_text(odd) == "? \N{MULTIPLICATION SIGN} <b>odd</b> in a loop, sends 0 B each time"


def test_a_huge_number_of_executions_keeps_its_place():
    [row] = _rows(_drawn({"yours": [Call("all-gather", (), 1, 10**18, True)]}))
    assert row.startswith("many \N{MULTIPLICATION SIGN} all-gather")


def test_a_strip_is_a_picture_with_a_description(parse):
    root = parse(draw_strip([GATHER, REDUCE], "order"))
    assert root.find("desc").text == f"{block_text(GATHER)}; {block_text(REDUCE)}"
    assert len(list(root.iter("rect"))) == 2
