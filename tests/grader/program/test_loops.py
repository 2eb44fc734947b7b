"""Trip counts come from the loop's own arithmetic, with or without XLA's note."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.program.hlo import read_hlo
from grader.program.loops import trip_count
from tests.grader.program.handwritten_hlo import module

COMPARED = {
    "LT": int.__lt__, "LE": int.__le__, "GT": int.__gt__, "GE": int.__ge__, "NE": int.__ne__, "EQ": int.__eq__
}  # fmt: skip


def loop(
    *,
    start: int | str = 0,
    limit: int = 11,
    step: int = 1,
    direction: str = "LT",
    swapped: bool = False,
    fused: bool = True,
    carried: bool = False,
    dtype: str = "s32",
    config: str = "",
) -> str:
    """A module with one loop over (i, x, limit). `fused`: as on CPU; `carried`: the limit is read from the tuple."""
    tuple_shape = f"({dtype}[], f32[4], {dtype}[])"
    bound = "%limit = {0}[] get-tuple-element(%t), index=2" if carried else f"%limit = {{0}}[] constant({limit})"
    operands = "%limit, %i" if swapped else "%i, %limit"
    compare = f"compare({operands}), direction={direction}"
    before = f"""
%compared (a: {dtype}[], b: {dtype}[]) -> pred[] {{
  %a = {dtype}[] parameter(0)
  %b = {dtype}[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction={direction}
}}
%added (a: {dtype}[], b: {dtype}[]) -> {dtype}[] {{
  %b = {dtype}[] parameter(1)
  %a = {dtype}[] parameter(0)
  ROOT %sum = {dtype}[] add(%a, %b)
}}
%condition (t: {tuple_shape}) -> pred[] {{
  %t = {tuple_shape} parameter(0)
  {bound.format(dtype)}
  %i = {dtype}[] get-tuple-element(%t), index=0
  ROOT %lt = pred[] {f"fusion({operands}), kind=kLoop, calls=%compared" if fused else compare}
}}
%body (t: {tuple_shape}) -> {tuple_shape} {{
  %t = {tuple_shape} parameter(0)
  %i = {dtype}[] get-tuple-element(%t), index=0
  %copy = {dtype}[] copy(%i)
  %one = {dtype}[] constant({step})
  %next = {dtype}[] {"fusion(%copy, %one), kind=kLoop, calls=%added" if fused else "add(%copy, %one)"}
  %x = f32[4] get-tuple-element(%t), index=1
  %n = {dtype}[] get-tuple-element(%t), index=2
  ROOT %out = {tuple_shape} tuple(%next, %x, %n)
}}"""
    return module(
        f"%start = {dtype}[] constant({start})" if isinstance(start, int) else f"%start = {dtype}[] {start}",
        f"%n = {dtype}[] constant({limit})",
        "%x = f32[4] constant({...})",
        f"%init = {tuple_shape} tuple(%start, %x, %n)",
        f"%loop = {tuple_shape} while(%init), condition=%condition, body=%body{config}",
        before=before,
    )


def trips(text: str) -> int | None:
    read = read_hlo(text)
    return trip_count(read, read.entry, read.entry.instructions["loop"])


def known(count: int) -> str:
    return f', backend_config={{"dynamic_variables":[],"known_trip_count":{{"n":"{count}"}}}}'


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize("carried", [True, False])
def test_a_counting_loop_is_counted(fused: bool, swapped: bool, carried: bool) -> None:
    assert trips(loop(fused=fused, swapped=swapped, carried=carried, direction="GT" if swapped else "LT")) == 11


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        ("add(%i, %one)", 8),
        ("add(%one, %i)", 8),
        ("subtract(%i, %one)", 14),
        ("add(%one, %one)", None),  # 6 stays 6: the loop never ends.
        ("add(%i, %n)", None),
        ("subtract(%n, %i)", None),
        ("subtract(%one, %i)", None),
    ],
)
def test_the_comparison_may_be_of_a_sum(left: str, expected: int | None) -> None:
    """The loop has `i` from 0, `n` = 11 and `one` = 3: it runs while the sum is below 11."""
    text = loop(fused=False, carried=True)
    assert "ROOT %lt = pred[] compare(%i, %limit)" in text
    condition = f"""
  %one = s32[] constant(3)
  %n = s32[] get-tuple-element(%t), index=2
  %left = s32[] {left}
  ROOT %lt = pred[] compare(%left, %limit)"""
    assert trips(text.replace("\n  ROOT %lt = pred[] compare(%i, %limit)", condition)) == expected


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-4, 4), st.sampled_from(sorted(COMPARED)), st.booleans())
def test_the_count_is_that_of_running_it(start: int, limit: int, step: int, direction: str, swapped: bool) -> None:
    found = trips(loop(start=start, limit=limit, step=step, direction=direction, swapped=swapped))
    value, count = start, 0
    while count < 100 and (COMPARED[direction](limit, value) if swapped else COMPARED[direction](value, limit)):
        value, count = value + step, count + 1
    # A loop that takes 100 trips here never ends, or only by overflow.
    assert found == (count if count < 100 else None) or (found is None and step == 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (loop(limit=2**31 - 1, step=2), None),
        (loop(limit=2**31 - 1, step=1), 2**31 - 1),
        (loop(dtype="u8", start=250, limit=255), 5),
        (loop(dtype="u8", start=250, limit=255, direction="LE"), None),
        (loop(dtype="f32"), None),
        (loop(start="parameter(1)"), None),
        (loop(step=0), None),
    ],
)
def test_a_loop_that_would_overflow_or_starts_anywhere_is_not_counted(text: str, expected: int | None) -> None:
    assert trips(text) == expected


def test_what_xla_worked_out_is_taken_where_nothing_else_is_known() -> None:
    assert trips(loop(start="parameter(1)", config=known(7))) == 7


def test_a_note_may_be_a_string() -> None:
    config = r', backend_config="{\"known_trip_count\":{\"n\":\"7\"},\"known_init_step\":{\"init\":\"0\"}}"'
    assert trips(loop(start="parameter(1)", config=config)) == 7


def test_a_note_that_contradicts_the_loop_is_not_believed() -> None:
    assert trips(loop(config=known(11))) == 11
    assert trips(loop(config=known(1))) is None


@pytest.mark.parametrize(
    "config",
    ['{"other":{"known_trip_count":{"n":"7"}}}', '{"known_trip_count":{"n":"x"}}', '{"known_trip_count":7}', '"7"'],
)
def test_a_note_that_is_none_is_not_taken_for_one(config: str) -> None:
    assert trips(loop(start="parameter(1)", config=f", backend_config={config}")) is None
