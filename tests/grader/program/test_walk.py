"""How often an instruction runs: loops multiply, calls repeat, branches may not be taken."""

import pytest

from grader.program.census import Census, take_census
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import module

REDUCE = "all-reduce(%p), replica_groups={}, channel_id=1, to_apply=%add"
WORKER = f"""
%worker (p: f32[16,4]) -> f32[16,4] {{
  %p = f32[16,4] parameter(0)
  ROOT %sum = f32[16,4] {REDUCE}
}}
"""
CONDITION = """
%condition (p: f32[16,4]) -> pred[] {
  %p = f32[16,4] parameter(0)
  ROOT %go = pred[] constant(true)
}
"""


def census(*lines: str, before: str = WORKER + CONDITION) -> Census:
    return take_census(module(*lines, before=before), 8)


def executions(*lines: str, before: str = WORKER + CONDITION) -> list[int | None]:
    return [collective.executions for collective in census(*lines, before=before).collectives]


def while_loop(name: str, trips: int | None, body: str = "worker", condition: str = "condition") -> str:
    note = "" if trips is None else f', backend_config={{"known_trip_count":{{"n":"{trips}"}}}}'
    return f"%{name} = f32[16,4] while(%p), condition=%{condition}, body=%{body}{note}"


def test_once_for_each_call() -> None:
    assert executions(f"%a = f32[16,4] {REDUCE}") == [1]
    call = "f32[16,4] call(%p), to_apply=%worker"
    fusion = "f32[16,4] fusion(%p), kind=kCustom, calls=%worker"
    assert executions(f"%a = {call}", f"%b = {call}", f"%c = {fusion}") == [1, 1, 1]


def test_loops_multiply_and_are_named_from_outside_in() -> None:
    inner = (
        f"%middle (p: f32[16,4]) -> f32[16,4] {{\n  %p = f32[16,4] parameter(0)\n  ROOT {while_loop('inner', 6)}\n}}"
    )
    found = census(while_loop("outer", 4, "middle"), before=WORKER + CONDITION + inner).collectives
    assert [(one.executions, one.loops) for one in found] == [(24, ("outer", "inner"))]


def test_a_loop_of_unknown_length_makes_the_number_unknown_unless_nothing_runs() -> None:
    assert executions(while_loop("a", None)) == [None]
    assert executions(while_loop("a", 0)) == [0]
    middle = "%middle (p: f32[16,4]) -> f32[16,4] {{\n  %p = f32[16,4] parameter(0)\n  ROOT {}\n}}"
    unknown = middle.format(while_loop("i", None))
    assert executions(while_loop("a", 0, "middle"), before=WORKER + CONDITION + unknown) == [0]
    assert executions(while_loop("a", 2, "middle"), before=WORKER + CONDITION + unknown) == [None]
    assert executions(while_loop("a", 2**62), f"%b = f32[16,4] {REDUCE}") == [2**62, 1]
    inner = middle.format(while_loop("i", 2**40))
    # More than 2**63 is more than can be counted.
    assert executions(while_loop("a", 2**40, "middle"), before=WORKER + CONDITION + inner) == [None]


def test_a_condition_runs_once_more_than_its_loop() -> None:
    condition = WORKER.replace("%worker", "%asks")
    assert executions(while_loop("a", 4, condition="asks"), before=WORKER + condition) == [5, 4]


def test_both_branches_count_and_are_marked() -> None:
    lines = [
        "%i = s32[] constant(0)",
        "%a = f32[16,4] conditional(%i, %p, %p), branch_computations={%worker, %worker}",
        "%b = f32[16,4] conditional(%i, %p, %p), true_computation=%worker, false_computation=%worker",
        f"%c = f32[16,4] {REDUCE}",
    ]
    found = census(*lines).collectives
    assert [(one.executions, one.conditional) for one in found] == [(1, True)] * 4 + [(1, False)]


@pytest.mark.parametrize(
    "line",
    [
        "%a = f32[16,4] map(%p), to_apply=%worker",
        "%a = f32[4] reduce(%p, %p), dimensions={0}, to_apply=%worker",
        '%a = f32[4] custom-call(%p), custom_call_target="x", called_computations={%worker}',
    ],
)
def test_what_calls_as_often_as_it_likes_makes_the_number_unknown(line: str) -> None:
    assert executions(line) == [None]


def test_what_nothing_calls_does_not_run() -> None:
    assert executions("%a = f32[16,4] negate(%p)") == []


@pytest.mark.parametrize(
    ("levels", "expected"), [(10, None), (17, "unfold"), (60, "unfold"), (300, "deep"), (5000, "deep")]
)
def test_calls_that_unfold_beyond_measure_are_refused(levels: int, expected: str | None) -> None:
    calls = "".join(
        f"%c{level} (p: f32[16,4]) -> f32[16,4] {{\n  %p = f32[16,4] parameter(0)\n"
        f"  %a = f32[16,4] call(%p), to_apply=%c{level - 1}\n  %b = f32[16,4] call(%p), to_apply=%c{level - 1}\n}}\n"
        for level in range(1, levels + 1)
    )
    before = WORKER.replace("%worker", "%c0") + calls
    line = f"%a = f32[16,4] call(%p), to_apply=%c{levels}"
    if expected is None:
        assert executions(line, before=before) == [1] * 2**levels
        return
    with pytest.raises(ProgramUnreadable, match=expected):
        census(line, before=before)


def test_calls_that_lead_to_nothing_are_not_followed() -> None:
    calls = "".join(
        f"%c{level} (p: f32[]) -> f32[] {{\n  %p = f32[] parameter(0)\n"
        f"  %a = f32[] call(%p), to_apply=%c{level - 1}\n  ROOT %b = f32[] call(%a), to_apply=%c{level - 1}\n}}\n"
        for level in range(1, 3000)
    )
    before = "%c0 (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n" + calls
    assert executions("%a = f32[] call(%p), to_apply=%c2999", before=before) == []


@pytest.mark.parametrize(
    ("before", "line", "expected"),
    [
        (
            "%x (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %a = f32[] call(%p), to_apply=%y\n}\n"
            "%y (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %a = f32[] call(%p), to_apply=%x\n}\n",
            "%a = f32[] call(%p), to_apply=%x",
            "calls itself",
        ),
        ("", "%a = f32[] call(%p), to_apply=%nowhere", "does not exist"),
        (WORKER, "%a = f32[16,4] while(%p), body=%worker", "names no computation as its condition"),
    ],
)
def test_calls_that_cannot_be_followed_are_refused(before: str, line: str, expected: str) -> None:
    with pytest.raises(ProgramUnreadable, match=expected):
        census(line, before=before)
