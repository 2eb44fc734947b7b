"""Calls of native code in compiled programs: those that JAX writes pass; any deviation fails."""

import pytest

from grader.program.hlo import read_hlo
from grader.verifier.errors import ProgramRefused
from grader.verifier.kernels import check_kernels

FFI = "api_version=API_VERSION_TYPED_FFI"
CHOLESKY = (
    '(f32[4,4]{0,1}, s32[]) custom-call(f32[4,4]{0,1} %a), custom_call_target="lapack_spotrf_ffi", '
    f"operand_layout_constraints={{f32[4,4]{{0,1}}}}, output_to_operand_aliasing={{{{0}}: (0, {{}})}}, {FFI}, "
    'frontend_attributes={num_batch_dims="0"}, metadata={op_name="jit(f)/cholesky"}, backend_config={uplo = 76 : ui8}'
)
BATCHED_QR = (
    f'(f32[2,5,3]{{1,2,0}}, f32[2,3]{{1,0}}) custom-call(%a), custom_call_target="lapack_sgeqrf_ffi", {FFI}, '
    "backend_config={}"
)
Q = f'f32[5,3]{{0,1}} custom-call(%a, %b), custom_call_target="lapack_sorgqr_ffi", {FFI}'
COMPLEX_SVD = (
    "(c64[5,3]{0,1}, f32[3]{0}, c64[5,3]{0,1}, c64[3,3]{0,1}, s32[]) custom-call(%a), "
    f'custom_call_target="lapack_cgesdd_ffi", {FFI}, backend_config={{mode = 83 : ui8}}'
)
EIG = (
    "(f32[4]{0}, f32[4]{0}, c64[4,4]{0,1}, c64[4,4]{0,1}, s32[]) custom-call(%a), "
    f'custom_call_target="lapack_sgeev_ffi", {FFI}, '
    "backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}"
)
HESSENBERG = (
    f'(f32[4,4]{{0,1}}, f32[3]{{0}}, s32[]) custom-call(%a), custom_call_target="lapack_sgehrd_ffi", {FFI}, '
    "backend_config={high = 4 : i32, low = 1 : i32}"
)
SOLVE = (
    f'f32[5,3]{{0,1}} custom-call(%a, %b), custom_call_target="lapack_strsm_ffi", '
    f"output_to_operand_aliasing={{{{}}: (1, {{}})}}, {FFI}, "
    "backend_config={diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}"
)
TOP_K = '(f32[16,2]{1,0}, s32[16,2]{1,0}) custom-call(%a), custom_call_target="TopK", called_computations={%less}'
SORT = "f32[16]{0} sort(%a), dimensions={0}, is_stable=true, to_apply=%less"


LESS = """
%less (x: f32[], y: f32[]) -> pred[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %c = pred[] compare(%x, %y), direction=GT
}
"""


def check(call: str, *operands: str, after: str = "") -> tuple[str, ...]:
    """Check a module whose entry calls `call` on %a and %b, which have the shapes `operands`."""
    lines = [f"%{'ab'[at]} = {shape} parameter({at})" for at, shape in enumerate(operands)]
    body = "\n  ".join([*lines, f"%call = {call}", after, "ROOT %out = f32[] constant(0)"])
    return check_kernels(read_hlo(f"HloModule m\n{LESS}\nENTRY %main (p: f32[]) -> f32[] {{\n  {body}\n}}\n"))


@pytest.mark.parametrize(
    ("call", "operands", "kernels"),
    [
        (CHOLESKY, ["f32[4,4]{0,1}"], ("lapack_spotrf_ffi",)),
        (BATCHED_QR, ["f32[2,5,3]{1,2,0}"], ("lapack_sgeqrf_ffi",)),
        (Q, ["f32[5,3]{0,1}", "f32[3]{0}"], ("lapack_sorgqr_ffi",)),
        (COMPLEX_SVD, ["c64[5,3]{0,1}"], ("lapack_cgesdd_ffi",)),
        (EIG, ["f32[4,4]{0,1}"], ("lapack_sgeev_ffi",)),
        (HESSENBERG, ["f32[4,4]{0,1}"], ("lapack_sgehrd_ffi",)),
        (SOLVE, ["f32[5,5]{0,1}", "f32[5,3]{0,1}"], ("lapack_strsm_ffi",)),
        (TOP_K, ["f32[16,9]{1,0}"], ("TopK",)),
        (TOP_K + ', backend_config={is_stable = true, order = "TOTAL"}', ["f32[16,9]{1,0}"], ("TopK",)),
        (SORT, ["f32[16]{0}"], ()),
    ],
)
def test_calls_as_jax_writes_them_pass(call: str, operands: list[str], kernels: tuple[str, ...]) -> None:
    assert check(call, *operands) == kernels


@pytest.mark.parametrize(
    ("call", "operand", "old", "new"),
    [
        (CHOLESKY, "f32[4,4]{0,1}", "(f32[4,4]{0,1}, s32[])", "(f32[4096]{0}, s32[])"),
        (CHOLESKY, "f32[4,4]{0,1}", "(f32[4,4]{0,1}, s32[])", "(f32[4,4]{0,1}, s32[4096]{0})"),
        (CHOLESKY, "f32[64,64]{0,1}", "", ""),
        (CHOLESKY, "f32[4,5]{0,1}", "(f32[4,4]", "(f32[4,5]"),
        (CHOLESKY, "s32[4,4]{0,1}", "", ""),
        (CHOLESKY, "f32[4,4]{0,1}", "potrf", "dpotrf"),
        (CHOLESKY, "f32[4,4]{0,1}", "uplo = 76", "uplo = 90"),
        (CHOLESKY, "f32[4,4]{0,1}", "{uplo = 76 : ui8}", "{}"),
        (CHOLESKY, "f32[4,4]{0,1}", "{uplo = 76 : ui8}", "{uplo = 76 : ui8, lda = 9 : i32}"),
        (CHOLESKY, "f32[4,4]{0,1}", "uplo = 76 : ui8", "uplo = [76] : ui8"),
        (CHOLESKY, "f32[4,4]{0,1}", "_TYPED_FFI", "_ORIGINAL"),
        (CHOLESKY, "f32[4,4]{0,1}", "{{0}: (0, {})}", "{{1}: (0, {})}"),
        (CHOLESKY, "f32[4,4]{0,1}", ", metadata", ", custom_call_has_side_effect=true, metadata"),
        (CHOLESKY, "f32[4,4]{0,1}", "(f32[4,4]{0,1}, s32[])", "((f32[4,4]{0,1}), s32[])"),
        (CHOLESKY, "f32[0,0]{0,1}", "f32[4,4]", "f32[0,0]"),
        (BATCHED_QR, "f32[2,5,3]{1,2,0}", "f32[2,3]", "f32[2,5]"),
        (BATCHED_QR, "f32[2,5,3]{1,2,0}", "f32[2,3]", "f32[9,3]"),
        (COMPLEX_SVD, "c64[5,3]{0,1}", "c64[3,3]", "c64[300,3]"),
        (COMPLEX_SVD, "c64[5,3]{0,1}", "mode = 83", "mode = 65"),
        (COMPLEX_SVD, "c64[5,3]{0,1}", "mode = 83", "mode = 79"),
        (EIG, "f32[4,4]{0,1}", "c64[4,4]{0,1}, s32[]", "c64[4,400]{0,1}, s32[]"),
        (HESSENBERG, "f32[4,4]{0,1}", "low = 1", "low = 3"),
        (HESSENBERG, "f32[4,4]{0,1}", "high = 4", "high = 40"),
        (HESSENBERG, "f32[4,4]{0,1}", "f32[3]{0}", "f32[4]{0}"),
        (TOP_K, "f32[16,9]{1,0}", "[16,2]", "[16,10]"),
        (TOP_K, "f32[16,9]{1,0}", "s32[16,2]", "s32[16,1]"),
        (TOP_K, "f32[8,9]{1,0}", "", ""),
        (TOP_K, "f32[16,9]{1,0}", "called_computations={%less}", FFI),
        (TOP_K, "f32[16,9]{1,0}", "called_computations={%less}", "backend_config={k = 9 : i32}"),
        (TOP_K, "f32[16,9]{1,0}", "TopK", "AllocateBuffer"),
        (TOP_K, "f32[16,9]{1,0}", "TopK", "PadToStatic"),
        (SORT, "f32[16]{0}", "is_stable=true, ", ""),
    ],
)
def test_what_a_kernel_does_not_take_is_refused(call: str, operand: str, old: str, new: str) -> None:
    assert old in call
    with pytest.raises(ProgramRefused) as refused:
        check(call.replace(old, new), operand)
    assert refused.value.reason == "not_exportable"


@pytest.mark.parametrize(
    ("operands", "old", "new"),
    [
        (("f32[5,3]{0,1}", "f32[4]{0}"), "", ""),
        (("f32[3,5]{0,1}", "f32[3]{0}"), "f32[5,3]", "f32[3,5]"),
    ],
    ids=["more reflectors than columns", "more columns than rows"],
)
def test_reflectors_fit_their_matrix(operands: tuple[str, str], old: str, new: str) -> None:
    with pytest.raises(ProgramRefused):
        check(Q.replace(old, new), *operands)


def test_the_side_of_a_triangular_solve_decides_its_size() -> None:
    with pytest.raises(ProgramRefused):
        check(SOLVE.replace("side = 76", "side = 82"), "f32[5,5]{0,1}", "f32[5,3]{0,1}")


def test_a_result_that_a_kernel_leaves_unwritten_is_not_read() -> None:
    """Left eigenvectors were not requested, so that buffer contains old memory."""
    values, right, left = (f"  %r = {kind} get-tuple-element(%call), index={at}" for kind, at in
                           (("f32[4]{0}", 0), ("c64[4,4]{0,1}", 3), ("c64[4,4]{0,1}", 2)))  # fmt: skip
    for read in (values, right):
        assert check(EIG, "f32[4,4]{0,1}", after=read) == ("lapack_sgeev_ffi",)
    for read in (left, "  %t = (f32[], f32[]) tuple(%call, %a)"):
        with pytest.raises(ProgramRefused, match="does not compute"):
            check(EIG, "f32[4,4]{0,1}", after=read)


def test_calls_in_every_computation_are_looked_at() -> None:
    inner = (
        "%body (p: f32[4,4]) -> f32[4,4] {\n  %a = f32[4,4]{0,1} parameter(0)\n"
        f'  ROOT %evil = f32[400]{{0}} custom-call(%a), custom_call_target="do_evil", {FFI}\n}}\n'
    )
    text = "HloModule m\n" + inner + "ENTRY %main (p: f32[]) -> f32[] {\n  ROOT %out = f32[] constant(0)\n}\n"
    with pytest.raises(ProgramRefused, match="do_evil"):
        check_kernels(read_hlo(text))
