"""Following arrays through a program, past everything that only passes them on."""

import pytest

from grader.program.dataflow import Dataflow, follow_data
from grader.program.hlo import read_hlo
from grader.program.tokens import ProgramUnreadable

LOOP = """
%body (s: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %s = (s32[], f32[8], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %a = f32[8] get-tuple-element(%s), index=1
  %w = f32[8] get-tuple-element(%s), index=2
  %moved = f32[8] collective-permute(%a), source_target_pairs={{0,1},{1,0}}
  %scaled = f32[8] multiply(%moved, %w)
  ROOT %again = (s32[], f32[8], f32[8]) tuple(%next, %scaled, %w)
}

%condition (c: (s32[], f32[8], f32[8])) -> pred[] {
  %c = (s32[], f32[8], f32[8]) parameter(0)
  %at = s32[] get-tuple-element(%c), index=0
  %three = s32[] constant(3)
  ROOT %less = pred[] compare(%at, %three), direction=LT
}
"""
FUSED = """
%part (x: f32[8], i: s32[]) -> f32[4] {
  %x = f32[8] parameter(0)
  %i = s32[] parameter(1)
  ROOT %slice = f32[4] dynamic-slice(%x, %i), dynamic_slice_sizes={4}
}
"""


def flow_of(*lines: str, before: str = "") -> Dataflow:
    body = "\n".join(f"  {line}" for line in ("%p = f32[8] parameter(0)", "%q = f32[8] parameter(1)", *lines))
    return follow_data(
        read_hlo(f"HloModule test\n{before}\nENTRY %main (p: f32[8], q: f32[8]) -> f32[8] {{\n{body}\n}}\n")
    )


def names(flow: Dataflow) -> list[str]:
    return [each.instruction.name for each in flow.steps if each.kind != "carried"]


def sources(flow: Dataflow, name: str) -> list[str | int]:
    """What a step takes: names of steps, or the numbers of arguments."""
    [step] = (each for each in flow.steps if each.instruction.name == name and each.kind != "carried")
    return [-1 - each.source if each.source < 0 else flow.steps[each.source].instruction.name for each in step.took]


def test_copies_and_tuples_are_passed():
    flow = flow_of(
        "%copy = f32[8] copy(%p)",
        "%pair = (f32[8], f32[8]) tuple(%copy, %q)",
        "%first = f32[8] get-tuple-element(%pair), index=0",
        "%sum = f32[8] add(%first, %q)",
        "ROOT %out = (f32[8], f32[8]) tuple(%sum, %q)",
    )
    assert names(flow) == ["sum"]
    assert sources(flow, "sum") == [0, 1]
    assert [[each.source for each in output] for output in flow.outputs] == [[0], [-2]]


def test_a_part_of_an_array_that_a_fusion_takes_is_passed():
    lines = ["%i = s32[] constant(2)", "%part.1 = f32[4] fusion(%p, %i), kind=kLoop, calls=%part"]
    flow = flow_of(*lines, "ROOT %double = f32[4] add(%part.1, %part.1)", before=FUSED)
    assert (names(flow), sources(flow, "double")) == (["double"], [0, 0])


def test_constants_and_numbers_are_no_steps():
    flow = flow_of(
        "%one = f32[] constant(1)",
        "%ones = f32[8] broadcast(%one), dimensions={}",
        "%two = f32[8] add(%ones, %ones)",
        "%sum = f32[8] add(%p, %two)",
        "%last = f32[1] slice(%sum), slice={[0:1]}",
        "ROOT %less = f32[1] add(%last, %last)",
    )
    assert names(flow) == ["sum"]


def test_a_program_of_numbers_alone_has_steps():
    text = "HloModule test\nENTRY %main (p: f32[]) -> f32[] {\n%p = f32[] parameter(0)\nROOT %s = f32[] add(%p, %p)\n}"
    assert names(follow_data(read_hlo(text))) == ["s"]


def test_a_loop_that_communicates_shows_its_steps_and_what_the_next_round_takes():
    flow = flow_of(
        "%zero = s32[] constant(0)",
        "%start = (s32[], f32[8], f32[8]) tuple(%zero, %p, %q)",
        "%loop = (s32[], f32[8], f32[8]) while(%start), condition=%condition, body=%body",
        "%end = f32[8] get-tuple-element(%loop), index=1",
        "%kept = f32[8] get-tuple-element(%loop), index=2",
        "ROOT %sum = f32[8] add(%end, %kept)",
        before=LOOP,
    )
    assert names(flow) == ["loop", "moved", "scaled", "sum"]
    loop, moved, scaled = (
        next(each for each in flow.steps if each.instruction.name == name) for name in ("loop", "moved", "scaled")
    )
    assert (loop.kind, loop.trips, loop.is_open) == ("loop", 3, True)
    assert [flow.steps[each.around or 0] for each in (moved, scaled)] == [loop, loop]
    assert sources(flow, "loop") == [0, 1]
    # What the loop does not change comes from before it.
    assert sources(flow, "sum") == ["loop", 1]
    [carried] = (flow.steps[each.source] for each in moved.took)
    assert [flow.steps[each] for each in carried.next_round] == [scaled]


def test_calls_that_unfold_without_end_are_refused():
    chain = "".join(
        f"%c{number} (x: f32[8]) -> f32[8] {{\n  %x{number} = f32[8] parameter(0)\n"
        f"  %a{number} = f32[8] call(%x{number}), to_apply=%c{number + 1}\n"
        f"  ROOT %b{number} = f32[8] call(%a{number}), to_apply=%c{number + 1}\n}}\n"
        for number in range(40)
    )
    all_reduce = "  %x40 = f32[8] parameter(0)\n  ROOT %r = f32[8] all-reduce(%x40), to_apply=%c41\n"
    last = f"%c40 (x: f32[8]) -> f32[8] {{\n{all_reduce}}}\n"
    add = "%c41 (x: f32[]) -> f32[] {\n  ROOT %x41 = f32[] parameter(0)\n}\n"
    with pytest.raises(ProgramUnreadable, match="unfold to more than"):
        flow_of("ROOT %out = f32[8] call(%p), to_apply=%c0", before=chain + last + add)


def test_steps_that_take_too_many_arrays_are_refused():
    parts = [f"%s{number} = f32[8] sine(%p)" for number in range(800)]
    names_of_parts = ", ".join(f"%s{number}" for number in range(800))
    joined = f"%joined = f32[6400] concatenate({names_of_parts}), dimensions={{0}}"
    users = [f"%u{number} = f32[6400] sine(%joined)" for number in range(700)]
    with pytest.raises(ProgramUnreadable, match="take more than"):
        flow_of(*parts, joined, *users)
