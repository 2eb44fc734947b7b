"""The dtype that collectives carry, as it was written. The programs are made up (made_up_programs.py)."""

from typing import Any

import pytest
from pydantic import ValidationError

from grader.checks.program import wire_dtype
from grader.program.facts import WrittenCollective
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, program, subject

WHOLE = 32_768
NARROW = {"kinds": ["all-gather"], "dtypes": ["bfloat16"], "means": "Narrow it."}
WIDE = {"kinds": ["reduce-scatter", "all-reduce"], "dtypes": ["float32"]}
GATHERED = exchange("all-gather", WHOLE, source_line=7)
REDUCED = exchange("reduce-scatter", WHOLE, source_line=9)


def finding_of(*written: WrittenCollective, rules: Any = (NARROW,), collectives: Any = (GATHERED,), **bounds: Any):
    programs = (program(EIGHT, collectives=collectives, written=written), program(EIGHT))
    return wire_dtype.check(subject(programs), wire_dtype.Bounds(rules=list(rules), **bounds))


def gather(dtype: str = "bf16", size: int = WHOLE // 8, channel: int | None = 1) -> WrittenCollective:
    """Of `size` elements on one device. The compiled one has float32."""
    return WrittenCollective("all-gather", (dtype,), channel, size // (1 if dtype == "f32" else 2))


def scatter(dtype: str, size: int = WHOLE) -> WrittenCollective:
    return WrittenCollective("reduce-scatter", (dtype,), 1, size)


def test_what_is_written_counts_and_not_what_the_cpu_compiles_it_to():
    finding = finding_of(gather())
    assert GATHERED.dtypes == ("f32",)
    assert (finding.passed, finding.message) == (True, "In the exported program: all-gather in bfloat16.")
    assert finding.evidence[0].values == {"all-gather of bfloat16": "1x, 2,048 bytes of input on each device"}


def test_another_dtype_is_named_with_its_line_and_what_the_rule_means():
    finding = finding_of(gather("f32"))
    assert (finding.passed, finding.reason) == (False, "wrong_communication")
    assert finding.message == ("On mesh x=8, one all-gather (line 7) carries float32; expected bfloat16. Narrow it.")


def test_one_of_several_is_enough():
    collectives = [exchange("all-gather", WHOLE), exchange("all-gather", 64, source_line=8)]
    finding = finding_of(gather(), gather("f32", 8), collectives=collectives)
    assert "one all-gather (line 8) carries float32; expected bfloat16." in finding.message


def test_even_the_smallest_written_collective_counts():
    assert not finding_of(gather(), gather("f32", 4)).passed


def test_several_are_counted_and_have_no_line_if_they_are_on_two():
    collectives = [exchange("all-gather", WHOLE), exchange("all-gather", WHOLE, source_line=8)]
    finding = finding_of(gather("f32"), gather("f32"), collectives=collectives)
    assert "2 all-gathers carry float32" in finding.message


def test_a_written_collective_that_was_removed_fulfils_nothing():
    finding = finding_of(gather(), collectives=())
    assert not finding.passed
    assert "the compiled program has no all-gather; expected one that carries bfloat16." in finding.message


def test_what_is_too_small_to_count_fulfils_nothing():
    assert not finding_of(gather(size=8), collectives=[exchange("all-gather", 63)]).passed


def test_a_written_collective_that_was_removed_may_not_have_another_dtype():
    """It may have been merged with one of the right dtype, if both have the same operand on the CPU."""
    assert not finding_of(gather(), gather("f32")).passed


def test_the_partitioners_collectives_have_no_dtype():
    finding = finding_of(gather(channel=2))
    assert not finding.passed
    assert "XLA's partitioner inserted one all-gather of 32 KiB (line 7), so the exported" in finding.message
    assert finding_of(gather(), collectives=[GATHERED, exchange("all-gather", 63, channel=9)]).passed
    assert not finding_of(gather(), collectives=[GATHERED, exchange("all-gather", 64, channel=9)]).passed


def test_a_rule_is_about_its_own_kinds():
    rules = [NARROW, WIDE]
    both = [GATHERED, REDUCED]
    finding = finding_of(gather(), scatter("f32"), rules=rules, collectives=both)
    assert finding.message == (
        "In the exported program: all-gather in bfloat16; reduce-scatter and all-reduce in float32."
    )
    finding = finding_of(gather(), scatter("bf16"), rules=rules, collectives=both)
    assert finding.message == "On mesh x=8, one reduce-scatter carries bfloat16; expected float32."
    assert not finding_of(gather("f32"), scatter("f32"), rules=rules, collectives=both).passed


def test_two_broken_rules_have_a_line_each_and_two_meshes_do_not():
    programs = [
        (program(mesh, collectives=[GATHERED, REDUCED], written=[gather("f32"), scatter("f16")]), program(mesh))
        for mesh in (EIGHT, FOUR)
    ]
    finding = wire_dtype.check(subject(*programs), wire_dtype.Bounds(rules=[NARROW, WIDE]))
    assert [line.partition(",")[0] for line in finding.message.splitlines()] == ["On mesh x=8", "On mesh x=8"]
    assert len(finding.evidence) == 2


def test_a_mistake_on_the_second_mesh_is_found():
    programs = [
        (program(mesh, collectives=[GATHERED], written=[gather(dtype)]), program(mesh))
        for mesh, dtype in ((EIGHT, "bf16"), (FOUR, "f32"))
    ]
    finding = wire_dtype.check(subject(*programs), wire_dtype.Bounds(rules=[NARROW]))
    assert finding.message.startswith("On mesh x=4, one all-gather")


def test_a_function_that_nothing_calls_does_not_count():
    assert finding_of(gather(), WrittenCollective("all-gather", ("f32",), 1, 0)).passed


def test_one_collective_of_two_dtypes_has_both():
    mixed = WrittenCollective("all-gather", ("bf16", "f32"), 1, WHOLE // 8)
    finding = finding_of(mixed)
    assert "carries float32" in finding.message
    assert list(finding.evidence[0].values) == ["all-gather of bfloat16 and float32"]


def test_a_dtype_without_a_name_in_jax_has_that_of_hlo():
    assert "carries f8e4m3fn" in finding_of(WrittenCollective("all-gather", ("f8e4m3fn",), 1, 8)).message


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [{"kinds": ["all-gather"], "dtypes": []}],
        [{"kinds": [], "dtypes": ["bfloat16"]}],
        [{"kinds": ["all-gather"], "dtypes": ["bf16"]}],
    ],
)
def test_a_rule_names_kinds_and_dtypes_that_exist(rules: Any):
    with pytest.raises(ValidationError):
        wire_dtype.Bounds(rules=rules)
