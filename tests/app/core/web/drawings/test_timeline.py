"""Collectives are drawn in program order, with how often a loop runs them."""

from app.core.web.drawings.timeline import MAX_BLOCKS, block_text, draw_timeline
from grader.verdicts.evidence import CollectiveCall


def call(name: str, axes: tuple[str, ...] | None, size: int, executions: int | None, in_loop: bool) -> CollectiveCall:
    return CollectiveCall(collective=name, axes=axes, bytes=size, executions=executions, in_loop=in_loop)


GATHER = call("all-gather", ("fsdp",), 65_536, 24, True)
REDUCE = call("all-reduce", ("data", "fsdp"), 1024, 1, False)


def _texts(root, class_):
    return [text.text for text in root.iter("text") if text.get("class") == class_]


def test_blocks_stand_in_program_order_with_their_executions(parse):
    root = parse(draw_timeline("order", {"yours": [GATHER, REDUCE], "reference": [REDUCE]}))
    assert _texts(root, "code") == ["AG", "AR", "AR"]
    assert _texts(root, "times") == ["\u00d724"]
    assert [title.text for title in root.iter("title")][1] == "all-gather over fsdp, 64.0 KiB, \u00d724 in a loop"
    first, second, _ = root.iter("rect")
    assert float(first.get("x")) < float(second.get("x"))
    assert float(first.get("height")) > float(second.get("height"))


def test_loops_are_told_apart_without_colour(parse):
    hatched = [path for path in parse(draw_timeline("order", {"yours": [GATHER, REDUCE]})).iter("path")]
    assert len(hatched) == 1


def test_a_program_without_a_collective_says_so(parse):
    root = parse(draw_timeline("order", {"yours": [], "reference": []}))
    assert _texts(root, "name") == ["yours: no collective", "reference: no collective"]


def test_many_blocks_go_on_in_further_rows_up_to_a_bound(parse):
    root = parse(draw_timeline("order", {"yours": [REDUCE] * 1000, "reference": [REDUCE]}))
    assert len(_texts(root, "code")) == MAX_BLOCKS + 1
    width = float(root.get("viewBox").split()[2])
    assert all(float(rect.get("x")) + float(rect.get("width")) <= width for rect in root.iter("rect"))


def test_blocks_of_no_bytes_and_unknown_kinds_are_drawn(parse):
    odd = call("<b>odd</b>", None, 0, None, True)
    root = parse(draw_timeline("order", {"yours": [odd]}))
    assert _texts(root, "code") == ["<B>"]
    assert _texts(root, "times") == ["\u00d7?"]
    assert block_text(odd) == "<b>odd</b>, 0 B, \u00d7? in a loop"


def test_a_huge_number_of_executions_keeps_its_place(parse):
    root = parse(draw_timeline("order", {"yours": [call("all-gather", (), 1, 10**18, True)]}))
    assert _texts(root, "times") == ["\u00d799k+"]
