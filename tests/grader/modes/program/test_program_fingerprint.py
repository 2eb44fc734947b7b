"""A known wrong submission is recognised by its programs: by how the step is built, or by the memory of `init`."""

from dataclasses import replace
from typing import Any

from grader.mistakes.known_mistakes import is_alike
from grader.modes.program.program_fingerprint import full_size_pattern, pattern_of, without_init
from grader.program.facts import WrittenCollective
from grader.program.measurement import Measured
from grader.verdicts.fingerprint import Fingerprint, Pattern
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, whole


def is_built_alike(known: dict[str, Pattern], mine: dict[str, Pattern], reference: dict[str, Pattern]) -> bool:
    one, other = (Fingerprint(pattern=without_init(each, reference)) for each in (known, mine))
    return is_alike(one, other, {})


def built(init_bytes: int | None, **changes: Any) -> dict[str, Pattern]:
    return pattern_of([with_init(program(mesh, **changes), init_bytes) for mesh in (EIGHT, FOUR)])


def with_init(measured: Measured, size: int | None) -> Measured:
    if size is None:
        return measured
    memory = replace(measured.facts.memory, output_bytes=size - 1_000, temporary_bytes=1_000)
    return replace(measured, init=replace(measured.facts, memory=memory))


def test_mistakes_in_init_alone_are_told_apart_by_its_memory():
    reference = built(4_000)
    assert is_built_alike(built(9_000), built(9_000), reference)
    assert not is_built_alike(built(9_000), built(12_000), reference)
    assert not is_built_alike(reference, built(9_000), reference)


def test_a_step_that_is_built_wrongly_is_recognised_whatever_its_init_needs():
    reference, wrong = built(4_000), {"w": whole((512, 16), 8)}
    assert is_built_alike(built(9_000, **wrong), built(12_000, **wrong), reference)
    assert not is_built_alike(built(9_000, **wrong), built(9_000), reference)
    assert not is_built_alike(built(9_000), built(9_000, **wrong), reference)


def test_without_an_exported_init_equal_programs_are_alike():
    assert is_built_alike(built(None), built(None), built(None))
    assert not is_built_alike(built(None, flops=7), built(None), built(None))


def test_programs_whose_collectives_are_written_in_another_dtype_are_not_alike():
    """Compiled for the CPU, both send float32."""
    wide, narrow = (
        built(None, written=[WrittenCollective("all-gather", (dtype,), 1, 64)]) for dtype in ("f32", "bf16")
    )
    assert is_built_alike(narrow, narrow, wide)
    assert not is_built_alike(narrow, wide, wide)
    assert not is_built_alike(wide, narrow, wide)


def test_a_known_submission_without_a_program_is_like_none():
    assert not is_built_alike({}, built(4_000), built(4_000))
    assert not is_built_alike(built(4_000), {}, built(4_000))


def at_full_size(temporary_bytes: int) -> dict[str, Pattern]:
    return built(None) | full_size_pattern(program({"x": 256}, temporary_bytes=temporary_bytes))


def test_mistakes_at_full_size_alone_are_told_apart_by_its_memory():
    reference = at_full_size(10**9)
    assert is_built_alike(at_full_size(60 * 10**9), at_full_size(61 * 10**9), reference)
    assert not is_built_alike(at_full_size(60 * 10**9), at_full_size(30 * 10**9), reference)
