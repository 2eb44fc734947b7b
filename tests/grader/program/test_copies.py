"""Asynchronous copies between the memories of a TPU, and what hides them."""

import pytest

from grader.core.chips import CHIPS
from grader.program.hlo import read_hlo
from grader.program.schedule import MAX_COPIES, Schedule, ScheduledComputation
from grader.program.schedule_reader import read_schedule
from tests.grader.program.test_schedule import schedule_of

# What libtpu writes of a weight that it brings into on-chip memory in two parts, and of a result that it takes back.
COPIES = """HloModule m, is_scheduled=true

ENTRY %main (p: f32[8,4]) -> f32[8,4] {
  %p = f32[8,4]{1,0:T(8,128)} parameter(0)
  %slice-start = ((f32[8,4]{1,0:T(8,128)}), f32[4,4]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(%p), slice={[0:4], [0:4]}
  %first = f32[8,4]{1,0:T(8,128)S(1)} add(%p, %p), backend_config={"estimated_cycles":"70"}
  %copy-start = (f32[8,4]{1,0:T(8,128)}, f32[8,4]{1,0:T(8,128)S(1)}, u32[]{:S(2)}) copy-start(%first)
  %slice-done = f32[4,4]{1,0:T(8,128)S(1)} slice-done(%slice-start)
  %second = f32[4,4]{1,0:T(8,128)} negate(%slice-done), backend_config={"estimated_cycles":"30"}
  ROOT %copy-done = f32[8,4]{1,0:T(8,128)} copy-done(%copy-start)
}
"""  # noqa: E501


def read(text: str, chip: str = "v5e") -> Schedule:
    return read_schedule(read_hlo(text), 8, {"x": 8}, CHIPS[chip])


def moved(computation: ScheduledComputation) -> list[tuple[str, int, str, str, int]]:
    """Shape, bytes, way and the cycles that hide each copy."""
    return [
        (each.shape, each.bytes, each.source, each.target, sum(step.cycles or 0 for step in computation.during(each)))
        for each in computation.copies
    ]


def test_a_copy_goes_on_during_the_steps_before_the_wait_for_it():
    [program] = read(COPIES).computations
    assert moved(program) == [
        ("f32[4,4]", 64, "HBM", "on-chip memory", 70),
        ("f32[8,4]", 128, "on-chip memory", "HBM", 30),
    ]


def test_a_copy_is_no_step_and_no_communication():
    [program] = read(COPIES).computations
    assert [step.name for step in program.steps] == ["first", "second"]
    assert program.collectives == ()


def test_a_wait_that_is_elsewhere_leaves_it_in_flight():
    without = COPIES.replace("  %slice-done = f32[4,4]{1,0:T(8,128)S(1)} slice-done(%slice-start)\n", "")
    [program] = read(without.replace("negate(%slice-done)", "slice(%p), slice={[0:4], [0:4]}")).computations
    assert [(each.start, each.done) for each in program.copies] == [(0, None), (1, 2)]


def test_the_wait_may_be_for_an_element_of_a_tuple():
    through = "%t = (f32[4,4]) tuple(%slice-start)\n  %e = f32[4,4] get-tuple-element(%t), index=0\n  %slice-done"
    text = COPIES.replace("%slice-done = ", f"{through} = ").replace("slice-done(%slice-start)", "slice-done(%e)")
    assert read(text).computations[0].copies[0].done == 1


def test_weights_of_a_real_schedule_are_on_their_way_during_products():
    [program] = schedule_of("gathered_ahead").computations
    assert program.copies
    assert {each.target for each in program.copies} <= {"HBM", "on-chip memory"}
    assert all(each.done is not None and each.line for each in program.copies)
    assert any(program.during(each) for each in program.copies)


def test_on_gpus_a_copy_is_a_step_as_before():
    [program] = read(COPIES, "h100").computations
    assert program.copies == ()
    assert "copy-start" in [step.name for step in program.steps]


def test_many_copies_are_cut_and_counted():
    one = "  %slice-start{0} = ((f32[8,4]), f32[4,4], s32[]) slice-start(%p), slice={{[0:4], [0:4]}}\n"
    many = "".join(one.format(number) for number in range(MAX_COPIES))
    found = read(COPIES.replace("  %slice-start =", f"{many}  %slice-start ="))
    assert (len(found.computations[0].copies), found.copies_left_out) == (MAX_COPIES, 2)


@pytest.mark.parametrize("shape", ["f32[4,4]", "((f32[8,4]))", "((), (), s32[])"])
def test_a_start_without_a_source_and_a_target_is_none(shape):
    text = COPIES.replace(
        "((f32[8,4]{1,0:T(8,128)}), f32[4,4]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start", f"{shape} slice-start"
    )
    assert [each.shape for each in read(text).computations[0].copies] == ["f32[8,4]"]
