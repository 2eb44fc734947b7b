"""The compiler for GPUs sees the call of a Pallas kernel, and nothing of the kernel."""

import pytest

from grader.confined.artifact import GPU_KERNELS
from grader.verifier.gpu_kernels import without_gpu_kernels

TEXT = """
module @m {{
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {{
    %0 = stablehlo.custom_call @{target}(%arg0) {{{attribute}}} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }}
}}
"""
ATTRIBUTES = (
    'mhlo.backend_config = {ir = "ML\\EFR bytes", grid_x = 1 : i32}, api_version = 4 : i32',
    'backend_config = {module = "bytes"}, api_version = 4 : i32',
)


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=["older", "newer"])
@pytest.mark.parametrize(("target", "renamed"), GPU_KERNELS.items())
def test_the_call_of_a_kernel_stays_and_the_kernel_goes(target, renamed, attribute):
    left = without_gpu_kernels(TEXT.format(target=target, attribute=attribute))
    assert f"@{renamed}(" in left
    assert target not in left
    assert "bytes" not in left


def test_other_calls_are_left_as_they_are():
    left = without_gpu_kernels(TEXT.format(target="cusolver_syevd_ffi", attribute=ATTRIBUTES[0]))
    assert "@cusolver_syevd_ffi(" in left
    assert "bytes" in left
