"""Programs whose communication, work and memory are known on paper, as XLA compiles them for 8 devices."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from grader.program.axes import axes_of, axes_of_pairs
from grader.program.census import Census, Collective, from_json, take_census, to_json
from grader.program.memory import memory_of
from grader.program.stablehlo import read_stablehlo
from grader.program.tokens import ProgramUnreadable

# All in one process: the programs are compiled once.
pytestmark = pytest.mark.xdist_group("compiled programs")

Texts = dict[str, dict[str, Any]]
PARAMETERS = 90_656
PARAMETER_BYTES = 4 * PARAMETERS
STATE_BYTES = 3 * PARAMETER_BYTES + 8
# Each device: an eighth of the parameters and of both moments, and two counters.
SHARD_BYTES = 3 * PARAMETER_BYTES // 8 + 8
BATCH_BYTES = 4 * 4096 * (64 + 32)
LOSS_BYTES = 4
# 4096/8 rows through three layers, three products each but for the first, whose input needs no gradient.
FLOPS = 2 * 512 * (2 * 64 * 256 + 3 * 256 * 256 + 3 * 256 * 32)


def census(texts: Texts, name: str, devices: int = 8) -> Census:
    return take_census(texts[name]["hlo"], devices)


def bytes_by_kind(collectives: tuple[Collective, ...]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in collectives:
        total[one.kind] += one.logical_bytes * (one.executions or 0)
    return dict(total)


def ring_bytes(found: Census) -> int:
    return sum(one.ring_bytes * (one.executions or 0) for one in found.collectives)


def test_automatic_fsdp_gathers_parameters_and_reduces_gradients(texts: Texts) -> None:
    found = census(texts, "auto_fsdp")
    assert bytes_by_kind(found.collectives) == {
        "all-gather": PARAMETER_BYTES, "all-reduce": PARAMETER_BYTES + LOSS_BYTES
    }  # fmt: skip
    assert ring_bytes(found) == 951_895
    assert [one.kind for one in found.collectives].count("all-reduce") == 1
    assert all(one.groups == (tuple(range(8)),) for one in found.collectives)
    assert found.partitions == 8


def test_fsdp_by_hand_scatters_what_it_reduces(texts: Texts) -> None:
    found = census(texts, "shard_map_fsdp")
    assert bytes_by_kind(found.collectives) == {
        "all-gather": PARAMETER_BYTES, "reduce-scatter": PARAMETER_BYTES, "all-reduce": LOSS_BYTES
    }  # fmt: skip
    assert ring_bytes(found) == 634_599


def test_data_parallel_reduces_only(texts: Texts) -> None:
    found = census(texts, "data_parallel")
    assert bytes_by_kind(found.collectives) == {"all-reduce": PARAMETER_BYTES + LOSS_BYTES}
    assert ring_bytes(found) == 634_599


@pytest.mark.parametrize("name", ["auto_fsdp", "shard_map_fsdp", "data_parallel", "auto_fsdp_not_donated"])
def test_a_device_computes_an_eighth_of_the_products(texts: Texts, name: str) -> None:
    assert census(texts, name).dot_flops == FLOPS == 260_046_848


@pytest.mark.parametrize(
    ("name", "argument", "alias"),
    [
        ("auto_fsdp", SHARD_BYTES + BATCH_BYTES // 8, SHARD_BYTES),
        ("shard_map_fsdp", SHARD_BYTES + BATCH_BYTES // 8, SHARD_BYTES),
        ("data_parallel", STATE_BYTES + BATCH_BYTES // 8, STATE_BYTES),
        ("auto_fsdp_not_donated", SHARD_BYTES + BATCH_BYTES // 8, 0),
    ],
)
def test_bytes_per_device_are_those_of_the_shards(texts: Texts, name: str, argument: int, alias: int) -> None:
    found = census(texts, name)
    memory = memory_of(SimpleNamespace(**texts[name]["memory"]))
    assert sum(found.argument_bytes) == memory.argument_bytes == argument
    assert found.alias_bytes == memory.alias_bytes == alias
    # 20 leaves of state and the loss; XLA adds a table of 21 pointers.
    assert sum(found.output_bytes) == memory.output_bytes - 21 * 8
    assert memory.temporary_bytes > PARAMETER_BYTES
    assert len(found.aliases) == (20 if alias else 0)
    assert len(read_stablehlo(texts[name]["stablehlo"]).donated) == (20 if alias else 0)


def test_collectives_in_loops_in_loops_count_every_trip(texts: Texts) -> None:
    found = census(texts, "accumulation")
    assert [(one.kind, one.executions, len(one.loops)) for one in found.collectives] == [
        ("all-gather", 24, 2), ("reduce-scatter", 24, 2)
    ]  # fmt: skip
    layer = 4 * 128 * 128
    assert bytes_by_kind(found.collectives) == {"all-gather": 24 * layer, "reduce-scatter": 24 * layer}
    assert ring_bytes(found) == 24 * 2 * layer * 7 // 8
    # 8 rows on each device; three products a layer.
    assert found.dot_flops == 24 * 3 * 2 * 8 * 128 * 128


def test_a_pipeline_permutes_once_a_tick(texts: Texts) -> None:
    permute, reduce = census(texts, "pipeline", 4).collectives
    assert (permute.kind, permute.executions, permute.ring_bytes) == ("collective-permute", 11, 4 * 16 * 32)
    assert permute.pairs == ((0, 1), (1, 2), (2, 3))
    assert axes_of_pairs(permute.pairs, {"stage": 4}) == ("stage",)
    assert (reduce.kind, reduce.executions, reduce.loops) == ("all-reduce", 1, ())
    assert census(texts, "pipeline", 4).dot_flops == 11 * 2 * 16 * 32 * 32


def test_a_ring_gathers_by_7_permutes(texts: Texts) -> None:
    found = census(texts, "ring").collectives
    assert [(one.kind, one.executions) for one in found] == [("collective-permute", 1)] * 7
    # What an all_gather of the same would send.
    assert sum(one.ring_bytes for one in found) == 7 * 4 * 8 * 16


def test_a_hybrid_talks_along_two_axes(texts: Texts) -> None:
    mesh = {"data": 2, "fsdp": 4}
    found = census(texts, "hybrid").collectives
    assert [(one.kind, axes_of(one.groups, mesh), one.logical_bytes) for one in found] == [
        ("all-gather", ("fsdp",), 4 * 64 * 64),
        ("reduce-scatter", ("fsdp",), 4 * 64 * 64),
        ("all-reduce", ("data",), 4 * 64 * 64 // 4),
    ]


def test_tensor_parallel_reduces_once(texts: Texts) -> None:
    (found,) = census(texts, "tensor_parallel").collectives
    assert (found.kind, found.logical_bytes, found.shapes) == ("all-reduce", 4 * 16 * 64, ((16, 64),))


def test_an_all_to_all_sends_all_but_its_own_part(texts: Texts) -> None:
    (found,) = census(texts, "shuffle").collectives
    assert (found.kind, found.ring_bytes, found.logical_bytes) == ("all-to-all", 7 * 4 * 16, 4 * 64 * 16)


def test_products_in_loops_in_loops_count_every_trip(texts: Texts) -> None:
    found = census(texts, "nested_loops")
    assert found.dot_flops == 3 * 5 * 2 * 8 * 16 * 16
    assert (found.partitions, found.collectives) == (1, ())


def test_what_depends_on_data_is_not_counted(texts: Texts) -> None:
    found = census(texts, "data_dependent")
    loop, branch = found.collectives
    assert (loop.executions, len(loop.loops), loop.conditional) == (None, 1, False)
    assert (branch.executions, branch.loops, branch.conditional) == (1, (), True)
    assert found.dot_flops is None


def test_batched_products_and_convolutions_are_counted(texts: Texts) -> None:
    found = census(texts, "products")
    # XLA makes the third product, which sums over two dims, a multiplication and a reduction: not counted.
    assert sorted(dot.flops for dot in found.dots) == [2 * 4 * 8 * 16 * 32, 2 * (2 * 8) * 3 * (16 * 3 - 2) ** 2]


def test_gradients_of_a_strided_convolution_take_as_many_flops_as_it(texts: Texts) -> None:
    assert "pad=0_-1x0_-1" in texts["strided_gradients"]["hlo"]
    assert [dot.flops for dot in census(texts, "strided_gradients").dots] == [2 * (2 * 8) * 3 * (7 * 3) ** 2] * 3


def test_a_collective_knows_its_line_of_the_submission(texts: Texts) -> None:
    (found,) = census(texts, "submitted").collectives
    assert found.source_line == 6


def test_dtypes_are_those_that_were_asked_for(texts: Texts) -> None:
    # On CPU the compiled program has only float32 to show.
    compiled = census(texts, "hybrid_bfloat16").collectives
    exported = read_stablehlo(texts["hybrid_bfloat16"]["stablehlo"]).collectives
    assert {dtype for one in compiled for dtype in one.dtypes} == {"f32"}
    assert [(one.kind, [str(shape) for shape in (*one.operands, *one.results)]) for one in exported] == [
        ("all-gather", ["bf16[16,64]", "bf16[64,64]"]),
        ("reduce-scatter", ["bf16[64,64]", "bf16[16,64]"]),
        ("all-reduce", ["bf16[16,64]", "bf16[16,64]"]),
    ]


def test_every_census_survives_its_way_through_json(texts: Texts) -> None:
    for name in texts.keys() - {"forged"}:
        found = census(texts, name, 4 if name == "pipeline" else 8)
        assert from_json(to_json(found)) == found


def test_a_program_that_writes_into_its_own_text_is_refused(texts: Texts) -> None:
    # XLA prints keys of attributes as they are: the compiled text alone cannot be trusted.
    assert "%forged = f32[1000,1000] all-gather" in texts["forged"]["hlo"]
    with pytest.raises(ProgramUnreadable, match="an attribute has the name"):
        read_stablehlo(texts["forged"]["stablehlo"])
