"""Does a program that is only compiled fit on a chip, and does it do the reference's work?"""

from dataclasses import replace
from typing import Any

import pytest

from grader.checks.finding import Finding
from grader.checks.program.fits import Bounds, check
from grader.checks.program_subject import FullSizeProgram
from grader.core.errors import GraderFault, SubmissionFault
from grader.program.measurement import Measured
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.schedule import Schedule
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program, split, subject

GIB = 1 << 30
LARGE = {"x": 256}
SLICE = "v5e:16x16"
MISSING = OnChip(SLICE, None, "Not checked: the TPU compiler is not installed here.", tried=False)


def made(temporary_bytes: int = 10 * GIB, **changes: Any) -> Measured:
    exchanges = changes.pop("collectives", [exchange("all-gather", 1 << 20)])
    fields: dict[str, Any] = {
        "argument_bytes": GIB,
        "alias_bytes": 0,
        "w": split((512, 16), 256),
        "collectives": exchanges,
    }
    return program(LARGE, temporary_bytes=temporary_bytes, **fields | changes)


def finding_of(
    mine: Measured | None,
    tpu: OnChip | None = MISSING,
    fault: SubmissionFault | None = None,
    small_operations: dict[str, int] | None = None,
) -> Finding:
    return on_slices(mine, [] if tpu is None else [tpu], [SLICE], fault, small_operations)


def on_slices(
    mine: Measured | None,
    on_chips: list[OnChip],
    topology: list[str],
    fault: SubmissionFault | None = None,
    small_operations: dict[str, int] | None = None,
) -> Finding:
    small = subject((program(EIGHT, operations=small_operations), program(EIGHT)))
    full = FullSizeProgram(made(), mine, fault, on_chip={each.topology: each for each in on_chips})
    return check(replace(small, full_size=full), Bounds(topology=topology))


def on_chip(peak_bytes: int, topology: str = SLICE, compiler: str = "libtpu 1") -> OnChip:
    return OnChip(topology, ChipFacts(Memory(0, 0, 0, 0), peak_bytes, None, Schedule((), 0)), compiler=compiler)


def test_what_fits_by_the_compiler_for_host_devices_passes_and_says_what_was_not_checked() -> None:
    found = finding_of(made())
    assert (found.passed, found.checked) == (True, True)
    assert found.message == (
        "At full size, on mesh x=256, a device needs 11 GiB according to the CPU compiler, of the 16 GiB of a TPU "
        "v5e chip. Not checked: the TPU compiler is not installed here."
    )


def test_in_a_run_the_slice_is_not_tried() -> None:
    assert "If you submit, it is also compiled for v5e:16x16." in finding_of(made(), None).message


@pytest.mark.parametrize(
    ("changes", "passes"),
    [
        ({"temporary_bytes": 15 * GIB - (1 << 12)}, True),
        ({"temporary_bytes": 15 * GIB}, False),
        ({"temporary_bytes": 10 * GIB, "constant_bytes": 6 * GIB}, False),
        # What is overwritten in place is held once.
        ({"temporary_bytes": 15 * GIB, "alias_bytes": 1 << 12}, True),
    ],
)
def test_everything_that_a_device_holds_counts(changes: dict[str, Any], passes: bool) -> None:
    found = finding_of(made(**changes))
    assert (found.passed, found.reason) == (passes, None if passes else "too_much_memory")


def test_the_message_says_where_the_memory_goes() -> None:
    found = finding_of(made(40 * GIB))
    assert "a device needs 41 GiB according to the CPU compiler. A TPU v5e chip has 16 GiB." in found.message
    assert "Arguments take 1 GiB" in found.message
    assert "temporaries 40 GiB" in found.message


def test_both_compilers_have_to_agree() -> None:
    found = finding_of(made(), on_chip(15 * GIB))
    assert found.passed
    assert "15 GiB according to the compiler for v5e:16x16 (libtpu 1)" in found.message
    found = finding_of(made(), on_chip(17 * GIB))
    assert (found.passed, found.reason) == (False, "too_much_memory")
    found = finding_of(
        made(), OnChip(SLICE, None, "The program does not fit on a chip. The compiler says: Ran out of memory.")
    )
    assert (found.passed, found.reason) == (False, "too_much_memory")
    assert found.message == "On v5e:16x16: The program does not fit on a chip. The compiler says: Ran out of memory."


def test_each_of_several_slices_has_its_own_memory() -> None:
    both = [SLICE, "h100:32x8"]
    gpu = on_chip(17 * GIB, "h100:32x8", "a compiler")
    found = on_slices(made(), [on_chip(15 * GIB), gpu], both)
    assert found.passed
    assert len(found.evidence) == 2
    assert "17 GiB according to the compiler for h100:32x8 (a compiler), of the 79.1 GiB of an H100" in found.message
    assert found.message.count("15 GiB") == 1
    found = on_slices(made(), [on_chip(17 * GIB), gpu], both)
    assert (found.passed, len(found.evidence)) == (False, 2)
    assert "h100" not in found.message
    found = on_slices(made(), [MISSING, gpu], both)
    assert (found.passed, found.checked) == (True, True)
    assert "Not checked: the TPU compiler" in found.message
    # What does not fit on one of them is rejected, whatever the other has.
    assert "A TPU v5e chip has 16 GiB." in on_slices(made(20 * GIB), [], both).message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"flops": 5_599}, "0.7 times the reference's. Between 0.7 and 1.15 times is allowed."),
        ({"flops": 9_201}, "1.15 times the reference's"),
        ({"flops": None}, "so the operations cannot be counted"),
        ({"collectives": []}, "a device sends 0 B; in the reference, it sends 896 KiB"),
        ({"new_w": split((256, 16), 256)}, "the shapes or dtypes of the results differ"),
    ],
)
def test_a_program_that_does_something_else_at_full_size_is_found(changes: dict[str, Any], said: str) -> None:
    found = finding_of(made(**changes))
    assert (found.passed, found.reason) == (False, "too_much_compute")
    assert said in found.message


SMALL = {"stablehlo.add": 3, "stablehlo.exponential": 2, "stablehlo.reshape": 5}


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        (SMALL, ""),
        # A device has one row there, so that shapes have fewer dimensions.
        ({**SMALL, "stablehlo.reshape": 4, "stablehlo.broadcast_in_dim": 1}, ""),
        # A loop of Python over 248 more devices.
        ({**SMALL, "stablehlo.add": 3 + 2 * 248, "stablehlo.exponential": 2 + 248}, ""),
        ({"stablehlo.add": 3}, "contains 0 `stablehlo.exponential`, but 2 at the small size"),
        ({**SMALL, "stablehlo.convert": 2}, "contains 2 `stablehlo.convert`, but 0 at the small size"),
        ({**SMALL, "stablehlo.convert": 248}, "contains 248 `stablehlo.convert`, but 0 at the small size"),
        ({**SMALL, "stablehlo.add": 2}, "contains 2 `stablehlo.add`, but 3 at the small size"),
        ({**SMALL, "stablehlo.add": 4}, "contains 4 `stablehlo.add`, but 3 at the small size"),
    ],
)
def test_the_program_is_the_one_whose_values_are_checked(operations: dict[str, int], said: str) -> None:
    found = finding_of(made(operations=operations), small_operations=SMALL)
    assert (found.passed, found.reason) == ((False, "too_much_compute") if said else (True, None))
    assert said in found.message


def test_a_source_without_a_program_at_full_size_says_why() -> None:
    found = finding_of(None, fault=SubmissionFault("error", "cannot reshape."))
    assert (found.passed, found.reason) == (False, "error")
    assert "there is no program: cannot reshape. Take every size from the shapes of the arguments" in found.message


def test_a_package_without_a_full_size_is_our_fault() -> None:
    with pytest.raises(GraderFault, match=r"no \[program.full_size\]"):
        check(subject((program(EIGHT), program(EIGHT))), Bounds(topology=SLICE))
