"""Programs whose schedules on TPUs and GPUs are in this folder, so that tests do not need the compilers.

`python -m tests.grader.program.scheduled_programs tpu` writes them again into scheduled/, with the installed libtpu,
and with `gpu` into scheduled_on_gpus/.
"""

import dataclasses
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

from grader.core.chips import CHIPS, Platform, compiler_of

FOLDERS = {"tpu": Path(__file__).with_name("scheduled"), "gpu": Path(__file__).with_name("scheduled_on_gpus")}
# The compilers that wrote the texts.
COMPILERS = {"tpu": "libtpu 0.0.42.1", "gpu": "jax-cuda12-pjrt 0.10.2"}
# Programs for GPUs alone: one of the functions, on another mesh or with one of XLA's options.
VARIANTS: dict[str, tuple[str, dict[str, int], dict[str, str | bool]]] = {
    "two_hosts": ("gathered_ahead", {"data": 2, "fsdp": 8}, {}),
    "one_axis_over_two_hosts": ("gathered_ahead", {"fsdp": 16}, {}),
    "not_combined": ("gathered_ahead", {"fsdp": 8}, {"xla_gpu_all_gather_combine_threshold_bytes": "0"}),
    "pipelined": ("layers_in_a_loop", {"fsdp": 8}, {"xla_gpu_enable_pipelined_all_gather": True}),
    "double_buffered": ("layers_in_a_loop", {"fsdp": 8}, {"xla_gpu_enable_while_loop_double_buffering": True}),
}
# Programs for TPUs or for GPUs alone.
FOR_TPUS, FOR_GPUS = {"lines_merged"}, {"convolution_gradients"}
_SOURCE = """
import jax
import jax.numpy as jnp
from jax import lax


def gathered_ahead(w1, w2, w3, x):
    def loss(weights):
        h = x
        for w in weights:
            h = jnp.tanh(h @ w)
        return jnp.sum(h**2)
    grads = jax.grad(loss)((w1, w2, w3))
    return tuple(w - 0.1 * g for w, g in zip((w1, w2, w3), grads))


def layers_in_a_loop(weights, x):
    def layer(h, part):
        whole = lax.all_gather(part, "fsdp", axis=0, tiled=True)
        return jnp.tanh(h @ whole), None
    def loss(weights):
        h, _ = lax.scan(jax.checkpoint(layer), x, weights)
        return jnp.sum(h**2)
    return weights - 0.1 * jax.grad(loss)(weights)


def ring(x, w):
    def body(_, carried):
        total, part = carried
        return total + x @ part, lax.ppermute(part, "fsdp", [(j, (j + 1) % 8) for j in range(8)])
    return lax.fori_loop(0, 8, body, (jnp.zeros((x.shape[0], w.shape[1])), w))[0]


def summed_gradients(w, x):
    g = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * lax.psum(g, "fsdp")


def next_gathered_first(weights, x):
    def whole(part):
        return lax.all_gather(part, "fsdp", axis=0, tiled=True)
    def layer(carried, part):
        h, w = carried
        return (jnp.tanh(h @ w), whole(part)), None
    (h, w), _ = lax.scan(layer, (x, whole(weights[0])), weights[1:])
    return jnp.tanh(h @ w)


def lines_merged(bias, scale, w, x):
    def summed(a, b):
        one = lax.psum(a, "fsdp")
        return one, lax.psum(b, "fsdp"), lax.psum(b * 2, "fsdp")
    whole = lax.all_gather(w, "fsdp", axis=0, tiled=True)
    h = jnp.tanh(x @ whole)
    return summed(h.sum(0) * bias, scale * h[0, :512]), h


def convolution_gradients(w, kernel, x, dy):
    def convolved(x, kernel):
        return lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.all_gather(w, "fsdp", axis=0, tiled=True), *jax.vjp(convolved, x, kernel)[1](dy)
"""


def functions() -> dict[str, Any]:
    """The functions that are compiled, by name."""
    found: dict[str, Any] = {}
    exec(compile(_SOURCE, "submission.py", "exec"), found)
    return found


def compile_all(platform: Platform) -> dict[str, str]:
    """The text of each compiled program, by its name."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
    import numpy as np
    from jax.experimental import topologies

    from grader.verifier.chip import devices_of, find_compiler, schedule_for_gpu

    compiler = compiler_of(platform)
    if compiler != COMPILERS[platform]:
        raise SystemExit(f"{compiler} is installed. Set COMPILERS to it, and update what depends on it.")
    find_compiler(platform)
    texts = {}
    for name, (function, args) in _programs(_mesh({"fsdp": 8})).items():
        if platform == "tpu" and name not in FOR_GPUS:
            chips = np.array(topologies.get_topology_desc("v5e:2x4", platform="tpu").devices)
            texts[name] = lowered_for(function, args, chips, platform).compile().as_text() or ""
        elif platform == "gpu" and name not in FOR_TPUS:
            texts[name], _ = schedule_for_gpu(
                lowered_for(function, args, devices_of(CHIPS["h100"], "h100:8", (8,)), platform)
            )
    if platform == "gpu":
        for name, (base, axes, flags) in VARIANTS.items():
            mesh, sizes = _mesh(axes), tuple(axes.values())
            chips = devices_of(CHIPS["h100"], str(CHIPS["h100"].topology(mesh.size)), sizes)
            texts[name], _ = schedule_for_gpu(lowered_for(*_programs(mesh)[base], chips, platform), flags)
    # Keep only the last part of the files that it names, because the rest is specific to this machine.
    return {name: re.sub(r'"/[^"\n]*/([^"/\n]+\.py)"', r'"\1"', text) for name, text in texts.items()}


def _mesh(axes: dict[str, int]) -> Any:
    """A mesh of as many host devices, with the axes of mode Auto."""
    import jax
    from jax.sharding import AxisType

    sizes = tuple(axes.values())
    devices = jax.devices()[: math.prod(sizes)]
    return jax.make_mesh(sizes, tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=devices)


def _programs(mesh: Any) -> dict[str, tuple[Any, list[Any]]]:
    """Each function and the forms of its arguments. Weights are split over `fsdp`, rows over all axes."""
    import jax
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    named = functions()
    rows = P(mesh.axis_names)
    layers, columns = P(None, "fsdp"), P(None, "fsdp")
    weights = NamedSharding(mesh, P("fsdp"))

    def array(*shape: int, spec: P) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, spec))

    def mapped(name: str, in_specs: Any, out_specs: Any) -> Any:
        return jax.shard_map(named[name], mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)

    return {
        "gathered_ahead": (
            jax.jit(named["gathered_ahead"], out_shardings=(weights,) * 3, donate_argnums=(0, 1, 2)),
            [*[array(256, 256, spec=P("fsdp"))] * 3, array(1024, 256, spec=rows)],
        ),
        "layers_in_a_loop": (
            jax.jit(mapped("layers_in_a_loop", (layers, rows), layers), donate_argnums=0),
            [array(4, 1024, 1024, spec=layers), array(8192, 1024, spec=rows)],
        ),
        "next_gathered_first": (
            jax.jit(mapped("next_gathered_first", (layers, rows), rows)),
            [array(4, 1024, 1024, spec=layers), array(8192, 1024, spec=rows)],
        ),
        "convolution_gradients": (
            jax.jit(mapped("convolution_gradients", (weights.spec, P(), rows, rows), (P(), rows, rows))),
            [
                array(1024, 1024, spec=weights.spec),
                array(3, 3, 32, 64, spec=P()),
                array(64, 16, 16, 32, spec=rows),
                array(64, 8, 8, 64, spec=rows),
            ],
        ),
        "lines_merged": (
            jax.jit(mapped("lines_merged", (P(), P(), weights.spec, rows), (P(), rows))),
            [
                *[array(size, spec=P()) for size in (1024, 512)],
                array(512, 1024, spec=weights.spec),
                array(4096, 512, spec=rows),
            ],
        ),
        "ring": (
            jax.jit(mapped("ring", (P(), columns), columns)),
            [array(1024, 1024, spec=P()), array(1024, 8192, spec=columns)],
        ),
        "summed_gradients": (
            jax.jit(mapped("summed_gradients", (P(), rows), P()), donate_argnums=0),
            [array(1024, 1024, spec=P()), array(8192, 1024, spec=rows)],
        ),
    }


def lowered_for(function: Any, args: list[Any], chips: Any, platform: Platform) -> Any:
    """The function, exported for host devices, for a mesh of these chips."""
    import jax
    from jax.sharding import Mesh

    exported = jax.export.export(function)(*args)
    exported = dataclasses.replace(exported, platforms=("tpu" if platform == "tpu" else "cuda",))
    axes = args[0].sharding.mesh
    there = Mesh(chips, axes.axis_names, axis_types=axes.axis_types)
    avals = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)
        for aval, sharding in zip(exported.in_avals, exported.in_shardings_jax(there), strict=True)
    ]
    return jax.jit(exported.call).lower(*avals)


if __name__ == "__main__":
    chosen: Platform = "gpu" if sys.argv[1:] == ["gpu"] else "tpu"
    for name, text in compile_all(chosen).items():
        (FOLDERS[chosen] / f"{name}.txt").write_text(text)
