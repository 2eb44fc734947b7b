"""The element types of programs: closed lists, and what runs is right in each collective."""

from pathlib import Path

import pytest

from grader.program.hlo import read_hlo
from grader.program.shapes import DTYPES
from grader.program.stablehlo import ExportedProgram, read_stablehlo
from grader.verifier.element_types import COMPILED, RUN, check_runs, check_written
from grader.verifier.errors import ProgramRefused
from tests.problems.on_8_devices import run_on_8_devices


def written(line: str) -> ExportedProgram:
    return read_stablehlo(
        "module @m {\n  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"    {line} loc(#loc2)\n    return %arg0 : tensor<4xf32> loc(#loc1)\n  }}\n}}\n"
        '#loc1 = loc("submission.py":3:0)\n#loc2 = loc("submission.py":17:4)\n'
    )


def compiled(shape: str) -> str:
    return (
        "HloModule m\n\nENTRY %main (x: f32[4]) -> f32[4] {\n"
        f"  %y = {shape} constant({{0}})\n  ROOT %x = f32[4] parameter(0)\n}}\n"
    )


@pytest.mark.parametrize(
    ("mlir", "told"),
    [
        ("i2", "`int2` on line 17"),
        ("ui2", "`uint2` on line 17"),
        ("i3", "`int3` on line 17"),
        ("f6E3M2FN", "`f6e3m2fn` on line 17"),
        ("complex<f16>", "`complex<f16>` on line 17"),
    ],
)
def test_a_program_with_an_element_type_that_is_not_listed_is_not_compiled(mlir: str, told: str) -> None:
    with pytest.raises(ProgramRefused, match=told) as refused:
        check_written(written(f"%0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4x{mlir}>"))
    assert refused.value.reason == "not_exportable"


def test_a_type_of_another_form_is_refused() -> None:
    with pytest.raises(ProgramRefused, match="quant"):
        check_written(written("%0 = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>"))


@pytest.mark.parametrize(
    ("mlir", "name"), [("i4", "int4"), ("ui4", "uint4"), ("f4E2M1FN", "f4e2m1fn"), ("f8E8M0FNU", "f8e8m0fnu")]
)
def test_elements_of_four_bits_and_scales_are_compiled_and_do_not_run(mlir: str, name: str) -> None:
    program = written(f"%0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4x{mlir}>")
    check_written(program)
    with pytest.raises(ProgramRefused, match=f"`{name}` on line 17. It can be compiled, but not run"):
        check_runs(program, read_hlo(compiled("f32[4]{0}")))


@pytest.mark.parametrize("shape", ["s2[4]{0}", "(f32[2]{0}, u4[8]{0})"])
def test_what_the_compiler_makes_of_a_program_is_checked_as_well(shape: str) -> None:
    text = compiled(shape)
    with pytest.raises(ProgramRefused, match="It can be compiled, but not run"):
        check_runs(written("%0 = stablehlo.sine %arg0 : tensor<4xf32>"), read_hlo(text))


def test_what_has_whole_bytes_is_compiled_and_runs() -> None:
    program = written("%0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>")
    check_written(program)
    check_runs(program, read_hlo(compiled("bf16[4]{0}")))


def test_the_lists_name_types_that_hlo_has() -> None:
    assert COMPILED <= DTYPES
    assert {"s1", "u1", "s2", "u2", "token", "opaque"} == DTYPES - COMPILED


@pytest.mark.rotation("uv.lock", "next-jax.txt", "grader/verifier/element_types.py", "tests/grader/verifier/")
def test_each_collective_is_right_in_each_type_that_runs() -> None:
    """XLA:CPU moves elements of two bits with a wrong width, in the memory of the process that grades for everyone."""
    found = run_on_8_devices(Path(__file__).with_name("collectives_by_dtype.py"), *sorted(RUN))
    assert found["devices"] == 8
    assert found["differ"] == {dtype: [] for dtype in RUN}
