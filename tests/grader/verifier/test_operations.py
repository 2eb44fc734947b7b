"""Exported programs by their operations: a closed list."""

import pytest

from grader.confined.artifact import GPU_KERNELS
from grader.program.stablehlo import read_stablehlo
from grader.verifier.errors import ProgramRefused
from grader.verifier.operations import check_operations


def check(line: str, lowered: str = "cpu", **options: bool) -> None:
    check_operations(
        read_stablehlo(
            "module @m {\n  func.func public @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
            f"    {line}\n    return %arg0 : tensor<4x4xf32>\n  }}\n}}\n"
        ),
        lowered,
        **options,
    )


@pytest.mark.parametrize(
    "line",
    [
        "%0 = stablehlo.sine %arg0 : tensor<4x4xf32>",
        "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)",
        '%0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}]> : tensor<4x4xf32>',
    ],
)
def test_what_jax_writes_passes(line: str) -> None:
    check(line)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%0 = stablehlo.custom_call @AllocateBuffer() : () -> tensor<4096xf32>", "AllocateBuffer"),
        ("%0 = stablehlo.custom_call @tpu_custom_call(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "tpu_custom_call"),
        ("%0 = stablehlo.custom_call @TopK(%arg0) : (tensor<4x4xf32>) -> tensor<4x99xf32>", "TopK"),
        ("%0 = stablehlo.custom_call @mhlo.topk(%arg0) : (tensor<4x4xf32>) -> tensor<4x99xf32>", "mhlo.topk"),
        ("%0 = stablehlo.custom_call @Sharding(%arg0) : (tensor<4x4xf32>) -> tensor<99xf32>", "Sharding"),
        ("%0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) : (tensor<4xf32>) -> tensor<9xf32>", "xla.sdy"),
        ("%0 = stablehlo.custom_call @ApproxTopK(%arg0) : (tensor<4x4xf32>) -> tensor<4x2xf32>", "ApproxTopK"),
        ("%0 = stablehlo.custom_call @lapack_sgesvd_ffi(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "gesvd"),
        ("%0 = stablehlo.rng %a, %b, %c, distribution = UNIFORM : (tensor<f32>) -> tensor<3xf32>", "jax.random"),
        ("%0 = stablehlo.set_dimension_size %arg0, %n, dim = 0 : (tensor<4xf32>) -> tensor<4xf32>", "dimension_size"),
        ("%0 = stablehlo.dynamic_pad %arg0, %a : (tensor<4xf32>) -> tensor<9xf32>", "dynamic_pad"),
        ("%0 = stablehlo.real_dynamic_slice %arg0, %a : (tensor<4xf32>) -> tensor<9xf32>", "real_dynamic_slice"),
        ('%0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<4xf32>', "host"),
        ("%0 = sdy.all_gather [{}] %arg0 out_sharding=<@mesh, [{}]> : tensor<4x4xf32>", "sdy.all_gather"),
        ("%0 = nobodys.operation %arg0 : tensor<4x4xf32>", "nobodys.operation"),
        ("%0 = stablehlo.sine %arg0 : tensor<?x4xf32>", "not fixed"),
        ("%0 = stablehlo.sine %arg0 : tensor<4x4xf32, #stablehlo.bounds<9, ?>>", "not fixed"),
    ],
)  # fmt: skip
def test_everything_else_is_refused(line: str, told: str) -> None:
    with pytest.raises(ProgramRefused, match=told):
        check(line)


def test_a_program_for_tpus_alone_may_have_their_kernels() -> None:
    call = "%0 = stablehlo.custom_call @tpu_custom_call(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>"
    check(call, "tpu", for_chip=True)
    with pytest.raises(ProgramRefused, match="tpu_custom_call"):
        check(call, for_chip=True)
    with pytest.raises(ProgramRefused, match="AllocateBuffer"):
        check(call.replace("tpu_custom_call", "AllocateBuffer"), "tpu", for_chip=True)


def test_a_program_lowered_for_gpus_may_call_their_libraries_and_no_kernel_of_the_cpu() -> None:
    call = "%0 = stablehlo.custom_call @{}(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>"
    for target in ("cusolver_syevd_ffi", "annotate_device_placement"):
        check(call.format(target), "cuda", for_chip=True)
        with pytest.raises(ProgramRefused, match=target):
            check(call.format(target), for_chip=True)
    for target in ("tpu_custom_call", "lapack_spotrf_ffi", *GPU_KERNELS):
        with pytest.raises(ProgramRefused, match=r"The program calls"):
            check(call.format(target), "cuda", for_chip=True)
