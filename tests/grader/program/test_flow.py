"""From which arguments the data of a collective comes: HLO written by hand, and programs that XLA compiled."""

from typing import Any

import pytest

from grader.program.census import Census, take_census
from grader.program.flow import _MOST_ROUNDS
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import ADD

pytestmark = pytest.mark.xdist_group("compiled programs")
GROUPS = "replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}"
ARGUMENTS = ("%w = f32[16,4] parameter(0)", "%x = f32[16,4] parameter(1)", "%n = s32[] parameter(2)")


def census(*lines: str, before: str = "") -> Census:
    body = "\n".join(f"  {line}" for line in (*ARGUMENTS, *lines))
    return take_census(f"HloModule test, num_partitions=8\n{ADD}\n{before}\nENTRY %main {{\n{body}\n}}\n", 8)


def origin(*lines: str, before: str = "") -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of `%moved`, which is gathered: what it depends on, and what it carries."""
    gathered = f"ROOT %gathered = f32[128,4] all-gather(%moved), {GROUPS}"
    (found,) = census(*lines, gathered, before=before).collectives
    (part,) = found.parts
    return part.depends, part.carries


@pytest.mark.parametrize(
    ("line", "depends", "carries"),
    [
        ("%moved = f32[16,4] copy(%w)", (0,), (0,)),
        ("%moved = f32[64] bitcast(%x)", (1,), (1,)),
        ("%moved = f32[4,16] transpose(%x), dimensions={1,0}", (1,), (1,)),
        ("%moved = bf16[16,4] convert(%x)", (1,), (1,)),
        ("%moved = f32[16,4] multiply(%x, %w)", (0, 1), (0, 1)),
        ("%moved = f32[32,4] concatenate(%x, %w), dimensions={0}", (0, 1), (0, 1)),
        ("%moved = f32[4,4] dynamic-slice(%x, %n, %n), dynamic_slice_sizes={4,4}", (1, 2), (1,)),
        ("%moved = f32[16,4] dynamic-update-slice(%x, %w, %n, %n)", (0, 1, 2), (0, 1)),
        ("%moved = f32[16,4] scatter(%x, %n, %w), to_apply=%add", (0, 1, 2), (0, 1)),
        ("%moved = f32[4,4] dot(%x, %w), lhs_contracting_dims={0}, rhs_contracting_dims={0}", (0, 1), ()),
        ("%moved = f32[16,16] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={1}", (0, 1), ()),
        ("%moved = f32[4] reduce(%x, %n), dimensions={0}, to_apply=%add", (1, 2), ()),
        ("%moved = f32[8,8] iota(), iota_dimension=0", (), ()),
    ],
    ids=lambda value: value.partition("(")[0].rpartition(" ")[2] if isinstance(value, str) else "",
)
def test_data_is_followed_through_an_operation(line: str, depends: tuple[int, ...], carries: tuple[int, ...]) -> None:
    assert origin(line) == (depends, carries)


def arrival(*lines: str, returned: str = "") -> tuple[tuple[int, ...], ...]:
    """The outputs that each array of an all-reduce of `%w` and `%x`, `%a` and `%b`, arrives in: there are two."""
    (found,) = census(
        "%both = (f32[16,4], f32[16,4]) all-reduce(%w, %x), to_apply=%add",
        "%a = f32[16,4] get-tuple-element(%both), index=0",
        "%b = f32[16,4] get-tuple-element(%both), index=1",
        *lines,
        returned or "ROOT %out = (f32[16,4], f32[16,4]) tuple(%c, %w)",
    ).collectives
    return tuple(part.outputs for part in found.parts)


SLICED = "dynamic_slice_sizes={16,4}"


@pytest.mark.parametrize(
    ("lines", "outputs"),
    [
        (("%c = f32[16,4] multiply(%a, %w)",), ((0,), ())),
        (("%c = f32[16,4] divide(%w, %b)",), ((), (0,))),
        (("%c = f32[16,4] add(%a, %b)",), ((0,), (0,))),
        (
            (
                "%r = f32[4] reduce(%a, %n), dimensions={0}, to_apply=%add",
                "%c = f32[16,4] broadcast(%r), dimensions={1}",
            ),
            ((), ()),
        ),
        (("%s = f32[] bitcast(%a)", "%c = f32[16,4] broadcast(%s), dimensions={}"), ((), ())),
        (
            ("%d = pred[16,4] compare(%a, %w), direction=GT", "%c = f32[16,4] select(%d, %b, %w)"),
            ((), (0,)),
        ),
        (
            (
                "%d = f32[16,16] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
                "%c = f32[16,4] copy(%d)",
            ),
            ((), ()),
        ),
        (
            ("%p = f32[32,4] pad(%a, %n), padding=0_16x0_0", f"%c = f32[16,4] dynamic-slice(%p, %n, %n), {SLICED}"),
            ((0,), ()),
        ),
        (("%j = s32[] bitcast(%a)", f"%c = f32[16,4] dynamic-slice(%b, %j, %n), {SLICED}"), ((), (0,))),
        (("%one = f32[1,16,4] broadcast(%a), dimensions={1,2}", "%c = f32[16,4] bitcast(%one)"), ((0,), ())),
    ],
    ids=["scaled", "divisor", "added", "norm", "scalar", "mask", "product", "padded", "index", "one more dimension"],
)
def test_what_is_received_arrives_element_by_element(lines: list[str], outputs: tuple[tuple[int, ...], ...]) -> None:
    """A gradient becomes a new parameter. A number that scales a gradient does not, nor does an activation."""
    assert arrival(*lines) == outputs


ROW = "%row = f32[1,16,4] bitcast(%a)"
ZEROS = "%zeros = f32[3,16,4] broadcast(%zero), dimensions={}"
ROWS = "%rows = f32[3,16,4] dynamic-update-slice(%zeros, %row, %n, %n, %n)"
STACKED = ("%zero = f32[] constant(0)", ZEROS, ROW, ROWS)


@pytest.mark.parametrize(
    ("lines", "outputs"),
    [
        (("%c = f32[16,4] reduce(%rows, %zero), dimensions={0}, to_apply=%add",), ((0,), ())),
        (("%c = f32[3,4] reduce(%rows, %zero), dimensions={1}, to_apply=%add",), ((), ())),
        (
            (
                "%k = f32[3] iota(), iota_dimension=0",
                "%c = f32[16,4] dot(%k, %rows), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            ),
            ((0,), ()),
        ),
        (
            (
                "%k = f32[16] iota(), iota_dimension=0",
                "%c = f32[3,4] dot(%rows, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            ),
            ((), ()),
        ),
        (
            (
                "%k = f32[3,5] iota(), iota_dimension=0",
                "%c = f32[16,4,5] dot(%rows, %k), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            ),
            ((), ()),
        ),
        (
            (
                "%turned = f32[16,3,4] transpose(%rows), dimensions={1,0,2}",
                "%flat = f32[4,4,3,4] bitcast(%turned)",
                "%c = f32[4,4,4] reduce(%flat, %zero), dimensions={2}, to_apply=%add",
            ),
            ((0,), ()),
        ),
        (
            (
                "%flat = f32[48,4] bitcast(%rows)",
                "%c = f32[4] reduce(%flat, %zero), dimensions={0}, to_apply=%add",
            ),
            ((), ()),
        ),
        (
            (
                "%more = f32[1,16,4] bitcast(%b)",
                "%two = f32[2,16,4] concatenate(%row, %more), dimensions={0}",
                "%c = f32[16,4] reduce(%two, %zero), dimensions={0}, to_apply=%add",
            ),
            ((0,), (0,)),
        ),
    ],
    ids=["summed", "own dim", "weighted", "own dim weighted", "spread", "reshaped", "merged", "concatenated"],
)
def test_what_is_stacked_arrives_in_a_sum_over_the_stack(
    lines: tuple[str, ...], outputs: tuple[tuple[int, ...], ...]
) -> None:
    """Sums of microbatches that are stacked and added up are whole gradients."""
    assert arrival(*STACKED, *lines) == outputs


@pytest.mark.parametrize(
    ("lines", "outputs"),
    [
        (("%c = f32[1,1] slice(%a), slice={[0:1],[0:1]}",), ((), ())),
        # One of 8 devices keeps its slice: 8 of 64 elements.
        (("%c = f32[2,4] slice(%a), slice={[0:2],[0:4]}",), ((0,), ())),
        (("%c = f32[1,4] slice(%a), slice={[0:1],[0:4]}",), ((), ())),
        (
            (
                "%one = f32[1,4] slice(%a), slice={[0:1],[0:4]}",
                "%other = f32[1,4] slice(%a), slice={[1:2],[0:4]}",
                "%c = f32[2,4] concatenate(%one, %other), dimensions={0}",
            ),
            ((0,), ()),
        ),
        (
            (
                "%one = f32[1,1] slice(%a), slice={[0:1],[0:1]}",
                "%c = f32[16,4] dynamic-update-slice(%w, %one, %n, %n)",
            ),
            ((), ()),
        ),
        (
            (
                "%zero = f32[] constant(0)",
                "%zeros = f32[16,4] broadcast(%zero), dimensions={}",
                "%none = f32[16,4] multiply(%a, %zeros)",
                "%c = f32[16,4] add(%none, %w)",
            ),
            ((), ()),
        ),
    ],
    ids=["one number", "own slice", "half of a slice", "two halves", "one number in many", "times zero"],
)
def test_a_part_that_no_device_would_keep_does_not_arrive(
    lines: tuple[str, ...], outputs: tuple[tuple[int, ...], ...]
) -> None:
    assert arrival(*lines) == outputs


def test_parts_in_several_outputs_make_a_whole() -> None:
    """Gradients that are reduced as one vector are cut into leaves."""
    cut = [f"%c{row} = f32[1,4] slice(%a), slice={{[{row}:{row + 1}],[0:4]}}" for row in range(2)]
    both = "ROOT %out = (f32[1,4], f32[1,4]) tuple(%c0, %c1)"
    assert arrival(*cut, returned=both) == ((0, 1), ())
    assert arrival(*cut, returned="ROOT %out = (f32[1,4]) tuple(%c0)") == ((), ())


def test_what_is_exchanged_piece_by_piece_arrives() -> None:
    """The compiler for CPUs writes an all_to_all with one operand, and one result, for each device."""
    pieces = [
        f"%p{device} = f32[2,4] slice(%w), slice={{[{2 * device}:{2 * device + 2}],[0:4]}}" for device in range(8)
    ]
    results = ", ".join(["f32[2,4]"] * 8)
    operands = ", ".join(f"%p{device}" for device in range(8))
    exchange = f"%all = ({results}) all-to-all({operands}), replica_groups={{{{0,1,2,3,4,5,6,7}}}}"
    parts = [f"%r{device} = f32[2,4] get-tuple-element(%all), index={device}" for device in range(8)]
    joined = f"%c = f32[16,4] concatenate({', '.join(f'%r{device}' for device in range(8))}), dimensions={{0}}"
    (found,) = census(*pieces, exchange, *parts, joined, "ROOT %out = (f32[16,4]) tuple(%c)").collectives
    assert {part.outputs for part in found.parts} == {(0,)}


def test_what_is_reduced_twice_arrives_twice() -> None:
    """First over one axis, then over another: both are steps of the same sum."""
    groups = "replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}"
    first = "%a = f32[16,4] all-reduce(%w), to_apply=%add"
    second = f"%c = f32[2,4] reduce-scatter(%a), channel_id=2, {groups}, to_apply=%add"
    found = census(first, second, "ROOT %out = (f32[2,4]) tuple(%c)").collectives
    assert [part.outputs for each in found for part in each.parts] == [(0,), (0,)]


def test_one_array_may_arrive_in_several_outputs() -> None:
    assert arrival(returned="ROOT %out = (f32[16,4], f32[16,4], f32[16,4]) tuple(%b, %w, %b)") == ((), (0, 2))
    assert arrival(returned="ROOT %out = f32[16,4] negate(%a)") == ((0,), ())


def test_what_a_loop_receives_arrives_through_its_state() -> None:
    before = LOOP.replace("ROOT %next", "%sum = f32[16,4] all-reduce(%u), to_apply=%add\n  ROOT %next").replace(
        "FIRST", "%sum"
    )
    state = "(f32[16,4], f32[16,4], s32[])"
    lines = (
        "%zero = s32[] constant(0)",
        f"%start = {state} tuple(%w, %x, %zero)",
        f"ROOT %loop = {state} while(%start), condition=%condition, body=%body",
    )
    (found,) = census(*lines, before=before).collectives
    assert [part.outputs for part in found.parts] == [(0,)]


def test_a_sum_over_nothing_still_carries() -> None:
    """A sum over a dimension of size 1 is a reshape in disguise."""
    lines = "%wide = f32[1,16,4] bitcast(%x)", "%moved = f32[16,4] reduce(%wide, %n), dimensions={0}, to_apply=%add"
    assert origin(*lines)[1] == (1, 2)


def test_elements_of_a_tuple_are_told_apart() -> None:
    lines = "%pair = (f32[16,4], f32[16,4]) tuple(%w, %x)", "%moved = f32[16,4] get-tuple-element(%pair), index=1"
    assert origin(*lines) == ((1,), (1,))


def test_a_fusion_is_entered() -> None:
    before = """
%fused (a: f32[16,4], b: f32[16,4]) -> f32[16,4] {
  %a = f32[16,4] parameter(0)
  %b = f32[16,4] parameter(1)
  ROOT %c = f32[16,4] copy(%b)
}
"""
    assert origin("%moved = f32[16,4] fusion(%w, %x), kind=kLoop, calls=%fused", before=before) == ((1,), (1,))


LOOP = """
%condition (s: (f32[16,4], f32[16,4], s32[])) -> pred[] {
  %s = (f32[16,4], f32[16,4], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=2
  %limit = s32[] constant(3)
  ROOT %less = pred[] compare(%i, %limit), direction=LT
}
%body (t: (f32[16,4], f32[16,4], s32[])) -> (f32[16,4], f32[16,4], s32[]) {
  %t = (f32[16,4], f32[16,4], s32[]) parameter(0)
  %u = f32[16,4] get-tuple-element(%t), index=0
  %v = f32[16,4] get-tuple-element(%t), index=1
  %j = s32[] get-tuple-element(%t), index=2
  ROOT %next = (f32[16,4], f32[16,4], s32[]) tuple(FIRST, %v, %j)
}
"""


@pytest.mark.parametrize(("first", "index", "found"), [("%u", 0, (0,)), ("%v", 0, (0, 1)), ("%v", 1, (1,))])
def test_a_loop_carries_its_elements_round(first: str, index: int, found: tuple[int, ...]) -> None:
    zero = "%zero = s32[] constant(0)"
    start = "%start = (f32[16,4], f32[16,4], s32[]) tuple(%w, %x, %zero)"
    loop = "%loop = (f32[16,4], f32[16,4], s32[]) while(%start), condition=%condition, body=%body"
    taken = f"%moved = f32[16,4] get-tuple-element(%loop), index={index}"
    assert origin(zero, start, loop, taken, before=LOOP.replace("FIRST", first)) == (found, found)


def test_a_value_may_move_around_a_long_tuple() -> None:
    """A loop that moves each element one place on settles only after as many rounds as the tuple has elements."""
    number = 3 * _MOST_ROUNDS
    shape = f"({', '.join(['f32[16,4]'] * number)}, s32[])"
    last = f"%last = s32[] get-tuple-element(%state), index={number}"
    places = [f"%e{i} = f32[16,4] get-tuple-element(%state), index={i}" for i in range(number)]
    moved = ", ".join([f"%e{number - 1}", *(f"%e{i}" for i in range(number - 1)), "%last"])
    state = f"%state = {shape} parameter(0)"
    body = "\n".join([state, *places, last, f"ROOT %next = {shape} tuple({moved})"])
    condition = f"{state}\n{last}\nROOT %go = pred[] compare(%last, %last), direction=LT"
    start = f"%start = {shape} tuple(%w, {', '.join(['%x'] * (number - 1))}, %n)"
    loop = f"%loop = {shape} while(%start), condition=%condition, body=%body"
    taken = f"%moved = f32[16,4] get-tuple-element(%loop), index={number - 1}"
    before = f"%condition {{\n{condition}\n}}\n%body {{\n{body}\n}}"
    assert 0 in origin(start, loop, taken, before=before)[1]


def test_a_token_carries_nothing() -> None:
    assert origin("%token = token[] after-all(%w)", "%moved = f32[16,4] add(%x, %token)") == ((1,), (1,))


def test_what_ends_a_loop_has_a_say_in_all_that_comes_out() -> None:
    start = "%start = (f32[16,4], f32[16,4], s32[]) tuple(%w, %x, %n)"
    loop = "%loop = (f32[16,4], f32[16,4], s32[]) while(%start), condition=%condition, body=%body"
    taken = "%moved = f32[16,4] get-tuple-element(%loop), index=0"
    assert origin(start, loop, taken, before=LOOP.replace("FIRST", "%u")) == ((0, 2), (0,))


def test_what_is_joined_in_one_collective_is_told_apart() -> None:
    lines = f"ROOT %both = (f32[128,4], f32[128,4]) all-gather(%w, %x), {GROUPS}"
    (found,) = census(lines).collectives
    assert [(part.logical_bytes, part.depends) for part in found.parts] == [(2048, (0,)), (2048, (1,))]
    assert sum(part.logical_bytes for part in found.parts) == found.logical_bytes


def test_what_is_used_before_it_is_there_cannot_be_followed() -> None:
    with pytest.raises(ProgramUnreadable, match="before it is there"):
        origin("%early = f32[16,4] copy(%late)", "%late = f32[16,4] copy(%w)", "%moved = f32[16,4] copy(%w)")


def test_single_numbers_are_no_constants_that_take_memory() -> None:
    found = census("%one = f32[] constant(1)", "ROOT %table = f32[2,256] constant({...})")
    assert found.constant_bytes == 2048


@pytest.mark.parametrize("name", ["auto_fsdp", "shard_map_fsdp"])
def test_compiled_fsdp_gathers_parameters_as_they_came_in(texts: dict[str, dict[str, Any]], name: str) -> None:
    """Arguments are numbered as jax flattens the state: count, mu, nu, params and step, then the batch."""
    found = take_census(texts[name]["hlo"], 8)
    gathered = [part for each in found.collectives if each.kind == "all-gather" for part in each.parts]
    params = range(13, 19)
    assert sorted(part.depends for part in gathered) == [(number,) for number in params]
    assert [part.carries for part in gathered] == [part.depends for part in gathered]


@pytest.mark.parametrize("name", ["auto_fsdp", "shard_map_fsdp", "data_parallel"])
def test_gradients_depend_on_the_batch_and_carry_none_of_it(texts: dict[str, dict[str, Any]], name: str) -> None:
    found = take_census(texts[name]["hlo"], 8)
    reduced = [part for each in found.collectives if each.kind != "all-gather" for part in each.parts]
    assert len(reduced) == 7
    assert all({20, 21} <= set(part.depends) and not part.carries for part in reduced)
