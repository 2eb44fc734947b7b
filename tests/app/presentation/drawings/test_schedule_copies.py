"""Copies between a chip's memories are thin marks below the steps that hide them."""

import re

from app.presentation.drawings.schedule import draw_schedule
from app.presentation.drawings.schedule_copies import copies_text, copy_hidden_text
from grader.explorer.exploration import ChipComputation, ChipCopy, ChipStep


def copy(start, done, **changes):
    fields = {"shape": "f32[4,4]", "bytes": 64, "source": "HBM", "target": "on-chip memory", "line": 3}
    return ChipCopy(**(fields | {"start": start, "done": done, "hidden_cycles": 100, "hidden_kernels": 1} | changes))


def drawn(copies, steps=(50, 50)):
    made = [ChipStep(name=f"s{number}", cycles=cycles, flops=0, line=None) for number, cycles in enumerate(steps)]
    whole = ChipComputation(name="m", caller="", executions=1, steps=made, collectives=[], copies=copies)
    return draw_schedule("a", whole)


def marks(drawing):
    """Left edge, right edge and top of each copy."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="2" class="block copy"', drawing)
    return [(float(x), float(x) + float(width), float(y)) for x, y, width in found]


def test_a_copy_is_below_the_steps_that_hide_it():
    assert [mark[:2] for mark in marks(drawn([copy(0, 1), copy(1, 2), copy(0, None)]))] == [
        (0, 150), (0, 300), (150, 300)
    ]  # fmt: skip


def test_a_copy_that_nothing_hides_is_still_seen():
    [(left, right, _)] = marks(drawn([copy(1, 1, hidden_cycles=0, hidden_kernels=0)]))
    assert right > left
    assert "nothing is computed meanwhile" in drawn([copy(1, 1, hidden_cycles=0, hidden_kernels=0)])


def test_hundreds_of_copies_are_all_drawn_in_a_few_lanes():
    found = marks(drawn([copy(0, 2)] * 300))
    assert (len(found), len({top for _, _, top in found})) == (300, 8)


def test_copies_are_summed_up_by_their_way():
    back = copy(0, 1, source="on-chip memory", target="HBM")
    assert copies_text([copy(0, 1), copy(0, 1), back]) == (
        "2 copies from HBM to on-chip memory, 128 B, and 1 copy from on-chip memory to HBM, 64 B"
    )


def test_what_hides_a_copy_is_said_in_cycles_or_kernels():
    assert copy_hidden_text(copy(0, 1, hidden_cycles=1234)) == "1,234 cycles"
    assert copy_hidden_text(copy(0, 1, hidden_cycles=0, hidden_kernels=2)) == "2 kernels"
    assert copy_hidden_text(copy(0, 1, hidden_cycles=0, hidden_kernels=0)) == ""
