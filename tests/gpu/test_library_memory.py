"""What the lens says is in memory only for cuBLAS is not there if XLA's own kernels compute the products."""

from functools import cache
from pathlib import Path

import pytest

from tests.grader.on_chips import on_chip
from tests.problems.on_8_devices import run_on_8_devices

pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(600)]
# A weight of 1,024 by 1,024 numbers as bfloat16, and as float8.
WEIGHT, NARROW = 1024 * 1024 * 2, 1024 * 1024
# What a layer computes for 128 rows, which may be there once more.
ACTIVATIONS = 128 * 1024 * 4


@cache
def compiled() -> dict[str, dict[str, int]]:
    return run_on_8_devices(Path(__file__).with_name("compiled_products.py"), devices=1)


@pytest.mark.parametrize(
    ("case", "operands"),
    [
        ("widened", WEIGHT),
        ("scaled by column", WEIGHT),
        ("scaled by a number", 0),
        ("narrowed argument", WEIGHT),
        ("transposed", NARROW),
        ("layers", WEIGHT - NARROW),
        ("layers scaled by a number", 0),
        ("narrowed layers", 0),
        ("returned", 0),
        ("plain", 0),
    ],
)
def test_operands_for_cublas_are_what_xlas_own_kernels_do_without(case: str, operands: int) -> None:
    found = compiled()[case]
    assert found["operands"] == operands
    assert abs(found["with cuBLAS"] - found["with XLA's own"] - operands) <= ACTIVATIONS


SOURCE = "import jax.numpy as jnp\n\n\ndef f(x, w):\n    return x @ w.astype(jnp.bfloat16)\n"


def test_the_lens_says_what_is_there_for_cublas(judge):
    gpu = on_chip(judge, "h100", SOURCE, inputs='x: bfloat16[1024, 1024] P("data")\nw: float8_e4m3fn[1024, 1024]')
    found = gpu.for_libraries
    assert found is not None
    assert (found.operand_bytes, found.workspace_bytes) == (WEIGHT, 4 << 20)
    assert [(each.bytes, each.given, each.dtype, each.line) for each in found.operands] == [
        (WEIGHT, "f8e4m3fn", "bf16", 5)
    ]
