"""What is in the memory of a GPU only for cuBLAS, from texts in the form that XLA writes."""

import pytest

from grader.program.buffer_assignment import read_buffer_assignment
from grader.program.hlo import read_hlo
from grader.program.library_memory import LibraryMemory, LibraryOperand, library_memory
from grader.program.on_chip import from_json
from grader.program.tokens import ProgramUnreadable
from tests.grader.program.test_schedule import program_json

WIDE, NARROW, WORKSPACE = 64 * 32 * 2, 64 * 32, 4_194_304
TABLES = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "submission.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

"""
WIDENED = """\
%fused (p: f8e4m3fn[64,32]) -> bf16[64,32] {
  %p = f8e4m3fn[64,32]{1,0} parameter(0)
  ROOT %c = bf16[64,32]{1,0} convert(%p)
}

ENTRY %main (x: bf16[8,64], w: f8e4m3fn[64,32]) -> bf16[8,32] {
  %x = bf16[8,64]{1,0} parameter(0)
  %w = f8e4m3fn[64,32]{1,0} parameter(1)
  %operand = bf16[64,32]{1,0} fusion(%w), kind=kLoop, calls=%fused, metadata={op_name="convert" stack_frame_id=1}
  %renamed = bf16[64,32]{1,0} bitcast(%operand)
  %call = (bf16[8,32]{1,0}, s8[4194304]{0}) custom-call(%x, %renamed), custom_call_target="__cublas$lt$matmul"
  ROOT %got = bf16[8,32]{1,0} get-tuple-element(%call), index=0
}
"""
ASSIGNMENT = """BufferAssignment:
allocation 0: size 4096, parameter 1, shape |f8e4m3fn[64,32]| at ShapeIndex {}:
allocation 1: size 4198400, preallocated-temp:
 value: <4 operand @0> (size=4096,offset=0): bf16[64,32]{1,0}
 value: <7 custom-call.1{1} @0> (size=4194304,offset=4096): s8[4194304]{0}
"""


def found(text: str, assignment: str = ASSIGNMENT) -> LibraryMemory:
    result = library_memory(read_hlo(TABLES + text), read_buffer_assignment(assignment).temporaries)
    assert result is not None
    return result


def operands(text: str) -> list[tuple[int, str, str, int | None]]:
    return [(each.bytes, each.given, each.dtype, each.line) for each in found(text).operands]


def test_an_operand_that_only_cublas_reads_converted_is_there_for_it() -> None:
    assert found(WIDENED) == LibraryMemory(WORKSPACE, WIDE, (LibraryOperand(WIDE, "f8e4m3fn", "bf16", 12),))


def test_a_program_without_cublas_has_no_such_memory() -> None:
    text = TABLES + WIDENED.replace("__cublas$lt$matmul", "cusolver_potrf")
    assert library_memory(read_hlo(text), read_buffer_assignment(ASSIGNMENT).temporaries) is None


def test_what_another_array_also_occupies_is_not_there_for_cublas_alone() -> None:
    beside = ASSIGNMENT + " value: <5 other @0> (size=1024,offset=3072): f32[256]{0}\n"
    shared = found(WIDENED, beside)
    assert (shared.operand_bytes, shared.workspace_bytes) == (WIDE - 1024, WORKSPACE)
    over = ASSIGNMENT + " value: <5 other @0> (size=2048,offset=4096): f32[512]{0}\n"
    assert found(WIDENED, over).workspace_bytes == WORKSPACE - 2048


def test_a_transposed_copy_that_only_cublas_reads_is_there_for_it() -> None:
    transposed = (
        WIDENED.replace("bf16[64,32]", "f8e4m3fn[64,32]")
        .replace("convert(%p)", "transpose(%q), dimensions={1,0}")
        .replace("%p = f8e4m3fn[64,32]", "%q = f8e4m3fn[32,64]")
    )
    text = transposed.replace("w: f8e4m3fn[64,32]", "w: f8e4m3fn[32,64]").replace(
        "%w = f8e4m3fn[64,32]", "%w = f8e4m3fn[32,64]"
    )
    assert operands(text) == [(NARROW, "f8e4m3fn", "f8e4m3fn", 12)]


def test_a_scale_for_each_column_is_multiplied_by_any_kernel_and_a_single_one_is_not() -> None:
    scaled = WIDENED.replace(
        "ROOT %c = bf16[64,32]{1,0} convert(%p)",
        "%c = bf16[64,32]{1,0} convert(%p)\n  %s = bf16[32]{0} parameter(1)\n"
        "  %b = bf16[64,32]{1,0} broadcast(%s), dimensions={1}\n  ROOT %m = bf16[64,32]{1,0} multiply(%c, %b)",
    )
    text = scaled.replace("%w = ", "%k = bf16[32]{0} parameter(2)\n  %w = ").replace("fusion(%w)", "fusion(%w, %k)")
    assert operands(text) == [(WIDE, "f8e4m3fn", "bf16", 12)]
    assert operands(text.replace("bf16[32]{0}", "bf16[]").replace("dimensions={1}", "dimensions={}")) == []
    # Nor does such a kernel compute what is not linear.
    assert operands(WIDENED.replace("convert(%p)", "exponential(%p)")) == []


def test_of_a_slice_only_what_the_conversion_adds_is_there_for_cublas() -> None:
    text = (
        WIDENED.replace("f8e4m3fn[64,32]", "f8e4m3fn[4,64,32]")
        .replace(
            "ROOT %c = bf16[64,32]{1,0} convert(%p)",
            "%i = s32[] parameter(1)\n  %s = f8e4m3fn[1,64,32]{2,1,0} dynamic-slice(%p, %i, %i, %i), "
            "dynamic_slice_sizes={1,64,32}\n  %r = f8e4m3fn[64,32]{1,0} bitcast(%s)\n"
            "  ROOT %c = bf16[64,32]{1,0} convert(%r)",
        )
        .replace("fusion(%w)", "fusion(%w, %n)")
        .replace("%w = ", "%n = s32[] parameter(2)\n  %w = ")
    )
    assert operands(text) == [(WIDE - NARROW, "f8e4m3fn", "bf16", 12)]
    assert found(text).operand_bytes == WIDE - NARROW
    # Narrowed, it is there for any kernel.
    assert operands(text.replace("f8e4m3fn", "f32")) == []


def test_a_narrowed_operand_is_there_for_cublas_if_it_is_an_argument_that_nothing_else_reads() -> None:
    narrowed = WIDENED.replace("f8e4m3fn", "f32")
    assert operands(narrowed) == [(WIDE, "f32", "bf16", 12)]
    again = narrowed.replace("  ROOT %got", "  %sum = f32[64,32]{1,0} add(%w, %w)\n  ROOT %got")
    assert operands(again) == []
    computed = narrowed.replace("fusion(%w)", "fusion(%v)").replace(
        "  %operand", "  %v = f32[64,32]{1,0} add(%w, %w)\n  %operand"
    )
    assert operands(computed) == []


@pytest.mark.parametrize(
    "reader", ["%other = bf16[64,32]{1,0} add(%renamed, %renamed)", "%other = bf16[64,32]{1,0} copy(%operand)"]
)
def test_an_operand_that_something_else_reads_is_there_for_that(reader: str) -> None:
    assert operands(WIDENED.replace("  ROOT %got", f"  {reader}\n  ROOT %got")) == []


def test_an_operand_that_is_too_small_for_a_sentence_is_left_out() -> None:
    assert operands(WIDENED.replace("64,32", "8,8").replace("8,64", "8,8").replace("8,32", "8,8")) == []


def test_the_dtypes_of_an_operand_are_read_without_trust() -> None:
    operand = {"bytes": 8, "given": "f8e4m3fn", "dtype": "bf16", "line": None}
    memory = {"workspace_bytes": 0, "operand_bytes": 8, "operands": [operand]}
    assert from_json(program_json() | {"for_libraries": memory}).for_libraries is not None
    with pytest.raises(ProgramUnreadable, match="an operand of a library has an unknown dtype"):
        from_json(program_json() | {"for_libraries": memory | {"operands": [operand | {"dtype": "<b>"}]}})
