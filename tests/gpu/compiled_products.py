"""Compile products for an H100 with cuBLAS, as the lens does, and with XLA's own kernels, and measure their memory.

It writes to its last argument, as JSON: by case, the bytes of operands and workspaces that only cuBLAS needs according
to the lens, and the temporaries of both programs except for workspaces.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

from grader.core.chips import CHIPS
from grader.program.buffer_assignment import covered_bytes, read_buffer_assignment
from grader.program.hlo import read_hlo
from grader.program.library_memory import library_memory
from grader.verifier.chip import devices_of, find_compiler, schedule_for_gpu
from tests.grader.program.scheduled_programs import lowered_for

BF16, F8, F32 = jnp.bfloat16, jnp.float8_e4m3fn, jnp.float32
ROWS, SIZE, LAYERS = 128, 1024, 4


def scanned(x: jax.Array, w: jax.Array, *scales: jax.Array) -> jax.Array:
    def layer(h: jax.Array, each: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
        w, *scale = each
        widened = w.astype(BF16)
        return jnp.tanh(h @ (widened * scale[0] if scale else widened)), None

    return jax.lax.scan(layer, x, (w, *scales))[0]


def returned(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    widened = w.astype(BF16)
    return x @ widened, widened


def multiplied(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=F32)


Shapes = list[tuple[tuple[int, ...], Any]]
CASES: dict[str, tuple[Callable[..., Any], Shapes]] = {
    "widened": (lambda x, w: x @ w.astype(BF16), [((ROWS, SIZE), BF16), ((SIZE, SIZE), F8)]),
    "scaled by column": (
        lambda x, w, s: x @ (w.astype(BF16) * s),
        [((ROWS, SIZE), BF16), ((SIZE, SIZE), jnp.int8), ((SIZE,), BF16)],
    ),
    "scaled by a number": (
        lambda x, w, s: x @ (w.astype(F32) * s).astype(BF16),
        [((ROWS, SIZE), BF16), ((SIZE, SIZE), F8), ((), F32)],
    ),
    "narrowed argument": (lambda x, w: x @ w.astype(BF16), [((ROWS, SIZE), BF16), ((SIZE, SIZE), F32)]),
    "transposed": (multiplied, [((ROWS, SIZE), F8), ((SIZE, SIZE), F8)]),
    "layers": (scanned, [((ROWS, SIZE), BF16), ((LAYERS, SIZE, SIZE), F8)]),
    "layers scaled by a number": (scanned, [((ROWS, SIZE), BF16), ((LAYERS, SIZE, SIZE), F8), ((LAYERS,), BF16)]),
    "narrowed layers": (scanned, [((ROWS, SIZE), BF16), ((LAYERS, SIZE, SIZE), F32)]),
    "returned": (returned, [((ROWS, SIZE), BF16), ((SIZE, SIZE), F8)]),
    "plain": (lambda x, w: x @ w, [((ROWS, SIZE), BF16), ((SIZE, SIZE), BF16)]),
}


def measured(function: Callable[..., Any], shapes: Shapes) -> dict[str, int]:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    placed = NamedSharding(mesh, jax.P())
    args = [jax.ShapeDtypeStruct(shape, dtype, sharding=placed) for shape, dtype in shapes]
    lowered = lowered_for(jax.jit(function), args, devices_of(CHIPS["h100"], "h100:1", (1,)), "gpu")
    hlo, assignment = schedule_for_gpu(lowered)
    found = library_memory(read_hlo(hlo), read_buffer_assignment(assignment).temporaries)
    assert found is not None
    _, own = schedule_for_gpu(lowered, {"xla_gpu_enable_triton_gemm": True})
    # The sums in parts that XLA's own kernels add up are their workspace.
    without_sums = [each for each in read_buffer_assignment(own).temporaries if not each.name.startswith("gemm_fusion")]
    return {
        "operands": found.operand_bytes,
        "workspace": found.workspace_bytes,
        "with cuBLAS": read_buffer_assignment(assignment).memory.temporary_bytes,
        "with XLA's own": covered_bytes(without_sums),
    }


if __name__ == "__main__":
    find_compiler("gpu")
    Path(sys.argv[-1]).write_text(json.dumps({name: measured(*case) for name, case in CASES.items()}), encoding="utf-8")
