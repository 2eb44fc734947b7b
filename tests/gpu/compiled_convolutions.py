"""Count the FLOPs of convolutions and of their gradients, compiled for a host device and for an H100.

It reads a convolution per line, as JSON, and answers with a line: by "output", "input" and "kernel", which say what is
computed, the FLOPs of the host's program and of the GPU's.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax import lax
from jax.sharding import NamedSharding

from grader.confined import private_jax
from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.core.chips import CHIPS
from grader.program.census import take_census
from grader.verifier.chip import devices_of, find_compiler, schedule_for_gpu
from tests.grader.program.scheduled_programs import lowered_for


def counted(case: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """The FLOPs of each program of a convolution, on the host and on a GPU."""
    gpus = devices_of(CHIPS["h100"], "h100:1", (1,))
    found = {}
    for name, (function, args) in programs(case).items():
        lowered = jax.jit(function).lower(*args)
        host = lowered.compile(compiler_options=private_jax.known_options(COMPILER_OPTIONS)).as_text() or ""
        gpu, _ = schedule_for_gpu(lowered_for(jax.jit(function), args, gpus, "gpu"))
        found[name] = tuple(sum(dot.flops for dot in take_census(text, 1).dots) for text in (host, gpu))
    return found


def programs(case: Mapping[str, Any]) -> dict[str, tuple[Callable[..., Any], list[jax.ShapeDtypeStruct]]]:
    """The convolution and its gradients, each with the shapes of its arguments."""

    def convolved(image: jax.Array, kernel: jax.Array) -> jax.Array:
        return lax.conv_general_dilated(
            image,
            kernel,
            case["strides"],
            [tuple(each) for each in case["padding"]],
            lhs_dilation=case["lhs_dilate"],
            rhs_dilation=case["rhs_dilate"],
            dimension_numbers=tuple(case["dimensions"]),
            feature_group_count=case["groups"],
        )

    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def array(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, case["dtype"], sharding=NamedSharding(mesh, jax.P()))

    image, kernel = (array(tuple(case[name])) for name in ("image", "kernel"))
    output = array(jax.eval_shape(convolved, image, kernel).shape)

    def of_input(image: jax.Array, kernel: jax.Array, cotangent: jax.Array) -> jax.Array:
        return jax.vjp(lambda image: convolved(image, kernel), image)[1](cotangent)[0]

    def of_kernel(image: jax.Array, kernel: jax.Array, cotangent: jax.Array) -> jax.Array:
        return jax.vjp(lambda kernel: convolved(image, kernel), kernel)[1](cotangent)[0]

    given = [image, kernel, output]
    return {"output": (convolved, given[:2]), "input": (of_input, given), "kernel": (of_kernel, given)}


def main() -> None:
    # Keep what libraries print apart from the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        find_compiler("gpu")
        for line in sys.stdin:
            print(json.dumps(counted(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
