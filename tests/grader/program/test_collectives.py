"""Bytes, groups and kinds of collectives in text written by hand: forms that XLA on CPU does not print."""

import pytest

from grader.program.census import Collective, take_census
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.handwritten_hlo import module

SUM_OF_TWO = "(f32[16,4], f32[16,4]) {}(%a, %b), to_apply=%add, replica_groups=[1,8]<=[8], channel_id=3{}"
GROUPS_OF_4 = "replica_groups=[2,4]<=[8], use_global_device_ids=true, channel_id=3"


def collectives(*lines: str, before: str = "", header: str = "num_partitions=8", **options: object) -> list[Collective]:
    text = module(*lines, before=before, header=header)
    return list(take_census(text, 8, **options).collectives)  # type: ignore[arg-type]


def only(*lines: str, **options: object) -> Collective:
    (found,) = collectives(*lines, **options)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("line", "logical", "ring"),
    [
        # %p holds 256 bytes; n = 4.
        ("f32[64,4] all-gather(%p), dimensions={0}", 1024, 768),
        ("f32[4,4] reduce-scatter(%p), dimensions={0}, to_apply=%add", 256, 192),
        ("f32[16,4] all-reduce(%p), to_apply=%add", 256, 384),
        ("f32[16,4] all-to-all(%p), dimensions={0}", 1024, 192),
        ("f32[16,4] collective-broadcast(%p)", 256, 256),
    ],
)
def test_bytes_follow_the_formulas(line: str, logical: int, ring: int) -> None:
    found = only(f"%a = {line}, {GROUPS_OF_4}")
    assert (found.logical_bytes, found.ring_bytes) == (logical, ring)
    assert (found.group_size, found.groups) == (4, ((0, 1, 2, 3), (4, 5, 6, 7)))
    assert (found.channel, found.executions, found.loops, found.asynchronous) == (3, 1, (), False)
    assert found.operand_shapes == ((16, 4),)


def test_a_ring_of_devices_sends_no_less_than_a_byte_less_than_the_formula() -> None:
    found = only("%c = s8[3] constant({...})", f"%a = s8[3] all-reduce(%c), to_apply=%add, {GROUPS_OF_4}")
    # 2 * 3/4 * 3 = 4.5 bytes.
    assert found.ring_bytes == 5


def test_a_permute_sends_its_operand() -> None:
    found = only("%a = f32[16,4] collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}")
    assert (found.logical_bytes, found.ring_bytes, found.group_size) == (1024, 256, 4)
    assert found.pairs == ((0, 1), (1, 2), (2, 3))
    assert found.groups == ((0, 1, 2, 3),)


def test_a_permute_on_a_mesh_has_the_groups_of_the_axes_it_stays_in() -> None:
    shift_by_two = "{{0,2},{1,3},{2,0},{3,1},{4,6},{5,7},{6,4},{7,5}}"
    line = f"%a = f32[16,4] collective-permute(%p), channel_id=1, source_target_pairs={shift_by_two}"
    assert only(line).group_size == 2
    assert only(line, mesh={"data": 2, "fsdp": 4}).groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert only(line, mesh={"fsdp": 8}).group_size == 8


def test_a_permute_to_oneself_sends_nothing() -> None:
    found = only("%a = f32[16,4] collective-permute(%p), channel_id=1, source_target_pairs={{0,0},{1,1}}")
    assert (found.ring_bytes, found.group_size) == (0, 1)


def test_a_tuple_is_summed_up() -> None:
    found = only(
        "%c = bf16[5]{0} constant({...})",
        "%a = (f32[16,4]{1,0}, bf16[5]{0}, /*index=2*/f32[16,4]{1,0}) "
        "all-reduce(%p, bf16[5]{0} %c, /*index=2*/%p), to_apply=%add, replica_groups={}, channel_id=1",
    )
    assert found.logical_bytes == 256 + 10 + 256
    assert found.dtypes == ("f32", "bf16", "f32")
    assert found.shapes == ((16, 4), (5,), (16, 4))


def test_an_all_to_all_of_a_tuple_sends_its_parts() -> None:
    found = only("%a = (f32[16,4], f32[16,4]) all-to-all(%p, %p), replica_groups={{0,1},{2,3}}, channel_id=1")
    assert (found.logical_bytes, found.ring_bytes) == (1024, 256)


@pytest.mark.parametrize(
    ("kind", "start", "shape"),
    [
        ("all-gather", "(f32[16,4], f32[64,4])", (64, 4)),
        ("all-reduce", "f32[16,4]", (16, 4)),
        ("collective-permute", "(f32[16,4], f32[16,4], u32[], u32[])", (16, 4)),
        ("reduce-scatter", "((f32[16,4]), f32[4,4])", (4, 4)),
    ],
)
def test_a_start_and_its_done_are_one(kind: str, start: str, shape: tuple[int, ...]) -> None:
    where = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}, channel_id=1" if kind[0] == "c" else GROUPS_OF_4
    found = only(f"%a = {start} {kind}-start(%p), {where}", f"%b = f32[1] {kind}-done(%a)")
    assert (found.kind, found.asynchronous, found.shapes, found.group_size) == (kind, True, (shape,), 4)
    assert found.logical_bytes == (256 if kind in {"all-reduce", "reduce-scatter"} else 1024)


def test_a_wrapped_start_and_its_done_are_one() -> None:
    before = f"""%wrapped (p: f32[16,4]) -> f32[4,4] {{
  %p = f32[16,4] parameter(0)
  ROOT %rs = f32[4,4] reduce-scatter(%p), dimensions={{0}}, to_apply=%add, {GROUPS_OF_4}
}}"""
    found = only(
        "%a = ((f32[16,4]), f32[4,4], s32[]) async-start(%p), calls=%wrapped",
        "%u = ((f32[16,4]), f32[4,4], s32[]) async-update(%a), calls=%wrapped",
        "%b = f32[4,4] async-done(%u), calls=%wrapped",
        before=before,
    )
    assert (found.kind, found.asynchronous, found.name, found.executions) == ("reduce-scatter", True, "rs", 1)


EVERYONE = (tuple(range(8)),)
ALONE = tuple((device,) for device in range(8))


@pytest.mark.parametrize(
    ("header", "attributes", "expected"),
    [
        ("num_partitions=8", "replica_groups={}, channel_id=1, use_global_device_ids=true", EVERYONE),
        ("num_partitions=8", "replica_groups={}, channel_id=1", EVERYONE),
        ("num_partitions=8", "channel_id=1", EVERYONE),
        # Group 0 is that of replica 0, which is all 8 partitions.
        ("num_partitions=8", "replica_groups={{0}}, channel_id=1", EVERYONE),
        # Without a channel only replicas take part, and there is one.
        ("num_partitions=8", "replica_groups={}", ALONE),
        ("num_partitions=8", "replica_groups={{0}}", ALONE),
        ("num_partitions=8", "replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=1", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("replica_count=8", "replica_groups={}", EVERYONE),
        ("replica_count=8", "replica_groups={{0,1,2,3},{4,5,6,7}}", ((0, 1, 2, 3), (4, 5, 6, 7))),
    ],
)
def test_numbers_mean_devices_or_replicas(header: str, attributes: str, expected: tuple[tuple[int, ...], ...]) -> None:
    found = only(f"%a = f32[16,4] all-reduce(%p), to_apply=%add, {attributes}", header=header)
    assert found.groups == expected


def test_a_device_that_is_alone_sends_nothing() -> None:
    groups = "replica_groups={{0},{1},{2},{3},{4},{5},{6},{7}}, channel_id=1, use_global_device_ids=true"
    found = only(f"%a = f32[16,4] all-gather(%p), dimensions={{0}}, {groups}")
    assert (found.group_size, found.ring_bytes, found.logical_bytes) == (1, 0, 256)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%a = f32[16,4] all-reduce(%nobody), to_apply=%add, replica_groups={}", "nobody"),
        ("%a = f32[16,4] all-reduce(%p), to_apply=%add, replica_groups={{0,0}}", "two groups"),
        ("%a = f32[16,4] all-gather-start(%p), replica_groups={}", "shape"),
        ("%a = f32[16,4] collective-permute(%p), source_target_pairs={{0,1},{0,2}}", "at most once"),
    ],
)
def test_a_collective_that_makes_no_sense_is_refused(line: str, expected: str) -> None:
    with pytest.raises(ProgramUnreadable, match=expected):
        collectives(line)


@pytest.mark.parametrize(
    "header", ["num_partitions=4", "num_partitions=x", "num_partitions=0", "num_partitions=8, replica_count=8"]
)
def test_a_program_for_another_number_of_devices_is_refused(header: str) -> None:
    with pytest.raises(ProgramUnreadable, match="not for 8 devices"):
        collectives(header=header)


def at(line: int) -> str:
    return f', metadata={{source_file="submission.py" source_line={line}}}'


def lines_of(*lines: str, before: str = "") -> tuple[int | None, ...]:
    (found,) = collectives(*lines, before=before)
    return tuple(part.source_line for part in found.parts)


def test_a_merged_collective_has_the_lines_of_its_elements() -> None:
    assert lines_of(
        f"%a = f32[16,4] negate(%p){at(2)}",
        f"%b = f32[16,4] exponential(%p){at(3)}",
        f"%r = {SUM_OF_TWO.format('all-reduce', at(9))}",
        f"%first = f32[16,4] get-tuple-element(%r), index=0{at(8)}",
        f"%second = f32[16,4] get-tuple-element(%r), index=1{at(9)}",
    ) == (8, 9)


def test_elements_are_taken_from_the_end_of_an_asynchronous_collective() -> None:
    assert lines_of(
        f"%a = f32[16,4] negate(%p){at(2)}",
        f"%b = f32[16,4] exponential(%p){at(3)}",
        f"%r = {SUM_OF_TWO.format('all-reduce-start', at(9))}",
        "%done = (f32[16,4], f32[16,4]) all-reduce-done(%r)",
        f"%first = f32[16,4] get-tuple-element(%done), index=0{at(8)}",
        "%second = f32[16,4] get-tuple-element(%done), index=1",
    ) == (8, 3)


def test_without_lines_of_elements_the_operands_tell() -> None:
    fused = """
%doubled (x: f32[16,4]) -> f32[16,4] {
  %x = f32[16,4] parameter(0)
  ROOT %y = f32[16,4] add(%x, %x), metadata={source_file="submission.py" source_line=4}
}
"""
    assert lines_of(
        f"%made = f32[16,4] negate(%p){at(2)}",
        "%a = f32[16,4] copy(%made)",
        "%b = f32[16,4] fusion(%p), kind=kLoop, calls=%doubled",
        f"%r = {SUM_OF_TWO.format('all-reduce', at(9))}",
        "%first = f32[16,4] get-tuple-element(%r), index=0",
        before=fused,
    ) == (2, 4)


def test_without_lines_of_operands_the_uses_of_the_elements_tell() -> None:
    assert lines_of(
        "%a = f32[16,4] copy(%p)",
        "%b = f32[16,4] bitcast(%p)",
        f"%r = {SUM_OF_TWO.format('all-reduce', at(9))}",
        "%first = f32[16,4] get-tuple-element(%r), index=0",
        "%moved = f32[16,4] copy(%first)",
        f"%used = f32[16,4] negate(%moved){at(7)}",
    ) == (7, 9)


def test_the_line_of_a_merged_collective_sends_most_of_its_bytes() -> None:
    rest = "to_apply=%add, replica_groups=[1,8]<=[8], channel_id=3"
    found = only(
        f"%small = f32[] constant(1){at(2)}",
        f"%r = (f32[16,4], f32[], f32[]) all-reduce(%p, %small, %small), {rest}{at(2)}",
        f"%first = f32[16,4] get-tuple-element(%r), index=0{at(8)}",
        f"%second = f32[] get-tuple-element(%r), index=1{at(2)}",
    )
    assert found.source_line == 8
    assert [part.ring_bytes for part in found.parts] == [448, 7, 7]
    assert sum(part.ring_bytes for part in found.parts) == found.ring_bytes
