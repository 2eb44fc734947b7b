"""The drawing of a schedule: the bar of a collective is below the steps that hide it."""

import re

from app.presentation.drawings.schedule import MAX_STEPS, draw_schedule, hidden_text, wait_text
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipStep


def computation(collectives, steps):
    made = [ChipStep(name=f"s{number}", cycles=cycles, flops=0, line=None) for number, cycles in enumerate(steps)]
    return ChipComputation(name="main", caller="", executions=1, steps=made, collectives=collectives, copies=[])


def collective(start, done, **changes):
    fields = {"collective": "all-gather", "dtypes": ["f32"], "axes": ("x",), "group_size": 8, "bytes": 1024, "line": 3}
    fields |= {"ring_bytes": 896, "hidden_cycles": 100, "hidden_flops": 0, "start": start, "done": done}
    fields |= {"link": "ICI", "hidden_kernels": 0, "estimated_cycles": None, "hidden_without_estimate": 0}
    fields |= {"queued_cycles": 0, "is_hidden_long_enough": None}
    return ChipCollective(**(fields | changes))


def bars(drawing):
    """Left edge, right edge and top of each collective."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="18" class="block kind-\d"', drawing)
    return [(float(x), float(x) + float(width), float(y)) for x, y, width in found]


def steps(drawing):
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="18" class="block step"', drawing)
    return [(float(x), float(x) + float(width)) for x, width in found]


def test_what_hides_a_collective_is_above_its_bar():
    drawn = draw_schedule("a", computation([collective(0, 2)], [None, 100, None, 100]))
    [(left, right, _)] = bars(drawn)
    hiding, after = steps(drawn)
    assert left < hiding[0] < hiding[1] < right <= after[0]
    assert hiding[1] - hiding[0] == after[1] - after[0]
    assert "all-gather over x, sends 896 B: hidden by 100 cycles" in drawn


def test_nothing_is_above_a_collective_that_all_else_waits_for():
    drawn = draw_schedule("a", computation([collective(1, 1, hidden_cycles=0)], [100, None, 100]))
    [(left, right, _)] = bars(drawn)
    before, after = steps(drawn)
    assert before[1] <= left < right <= after[0]
    assert "everything waits for it" in drawn


def test_two_that_go_on_at_the_same_time_are_in_two_lanes_and_the_next_is_in_the_first():
    several = [collective(0, 3), collective(1, 4), collective(5, 5)]
    found = bars(draw_schedule("a", computation(several, [None, None, 9, None, None, None])))
    first, second, third = (top for _, _, top in sorted(found))
    assert first < second
    assert third == first


def test_without_a_wait_it_lasts_until_the_end():
    [(_, right, _)] = bars(drawn := draw_schedule("a", computation([collective(0, None)], [None, 50, 50])))
    assert right == steps(drawn)[-1][1]


def test_a_computation_without_communication_is_not_drawn():
    assert draw_schedule("a", computation([], [5, 5])) is None


def test_a_long_schedule_is_cut_after_its_first_steps():
    many = computation([collective(0, 0), collective(MAX_STEPS, MAX_STEPS)], [None] + [1] * MAX_STEPS)
    assert len(bars(draw_schedule("a", many))) == 1


def test_a_dangerous_title_is_text():
    assert "<script>" not in draw_schedule("<script>", computation([collective(0, 0)], [None]))


def test_the_rows_of_a_gpu_are_its_streams():
    of_gpu = draw_schedule("a", computation([collective(0, 2)], [None, 100, None, 100]), has_streams=True)
    assert re.findall(r'class="name">([^<]+)<', of_gpu) == ["compute stream", "stream of collectives"]


def test_a_synchronous_collective_of_a_gpu_is_among_its_kernels():
    mixed = computation([collective(0, 2), collective(3, 3, hidden_cycles=0)], [None, 100, None, None, 100])
    (_, _, below), (left, right, beside) = sorted(bars(draw_schedule("a", mixed, has_streams=True)))
    before, after = steps(draw_schedule("a", mixed, has_streams=True))
    assert before[1] < left < right <= after[0]
    assert beside == 14.0 < below
    alone = draw_schedule("a", computation([collective(1, 1, hidden_cycles=0)], [100, None, 100]), has_streams=True)
    assert re.findall(r'class="name">([^<]+)<', alone) == ["compute stream"]
    # A chip without streams has a row for what communicates.
    assert {top for _, _, top in bars(draw_schedule("a", mixed))} == {below - 12}


def test_it_says_whether_what_hides_a_collective_is_enough():
    def shown(**fields):
        return hidden_text(collective(0, 2, **fields))

    enough, too_few = {"is_hidden_long_enough": True}, {"is_hidden_long_enough": False}
    assert shown() == "100 cycles"
    assert shown(estimated_cycles=99, **enough) == (
        "100 cycles, enough for the 99 that the links need by their bandwidth"
    )
    assert shown(estimated_cycles=1234, queued_cycles=50, **too_few) == (
        "100 cycles, too few for the 1,234, after 50 for others in flight, that the links need by their bandwidth"
    )
    assert shown(estimated_cycles=1234, hidden_kernels=2, hidden_without_estimate=1) == (
        "100 cycles and 1 kernel without an estimate; by their bandwidth, the links need 1,234"
    )


def test_it_says_for_how_long_everything_waits():
    assert wait_text(collective(1, 1, estimated_cycles=1234)) == "nothing (everything else waits, about 1,234 cycles)"
    assert wait_text(collective(1, 1)) == "nothing (everything else waits)"


def test_lines_that_are_sent_together_are_one_bar_with_all_bytes():
    other = {"ring_bytes": 2176, "line": 4, "sent_with": 0}
    merged = [collective(1, 1, hidden_cycles=0), collective(1, 1, hidden_cycles=0, **other)]
    drawn = draw_schedule("a", computation(merged, [100, None]))
    assert len(bars(drawn)) == 1
    assert "all-gather over x, sends 3.0 KiB" in drawn
