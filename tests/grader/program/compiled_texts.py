"""Compile programs whose facts can be worked out on paper, on 8 host devices, and write their texts to a JSON file.

Run it in its own process: `XLA_FLAGS=--xla_force_host_platform_device_count=8 python compiled_texts.py OUTPUT`.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

F = Mesh(np.array(jax.devices()), ("fsdp",))
HYBRID = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "fsdp"))
STAGES = Mesh(np.array(jax.devices()[:4]), ("stage",))
DIMS = (64, 256, 256, 32)
BATCH = 4096

Tree = Any
Program = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]


def array(shape: tuple[int, ...], spec: P, mesh: Mesh = F, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))


def largest(shape: tuple[int, ...]) -> P:
    """The spec that splits the last of the longest dims."""
    longest = max(range(len(shape)), key=lambda dim: (shape[dim], dim))
    return P(*("fsdp" if dim == longest else None for dim in range(len(shape))))


def forward(params: Tree, x: jax.Array) -> jax.Array:
    for layer in range(3):
        x = x @ params[f"w{layer}"] + params[f"b{layer}"]
        x = jax.nn.relu(x) if layer < 2 else x
    return x


def adam(state: Tree, grads: Tree) -> Tree:
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
    nu = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["nu"], grads)
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), state["params"], mu, nu)
    return {"params": params, "mu": mu, "nu": nu, "count": state["count"] + 1, "step": state["step"] + 1}


def state_like(spec_of: Callable[[tuple[int, ...]], P]) -> Tree:
    """90,656 parameters and their moments, and two counters: 1,087,880 bytes."""
    shapes = {f"w{i}": (DIMS[i], DIMS[i + 1]) for i in range(3)} | {f"b{i}": (DIMS[i + 1],) for i in range(3)}
    counter = array((), P(), dtype=jnp.int32)
    parts = {part: {name: array(s, spec_of(s)) for name, s in shapes.items()} for part in ("params", "mu", "nu")}
    return parts | {"count": counter, "step": counter}


def loss_of(params: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((forward(params, x) - y) ** 2)


def step_auto(state: Tree, x: jax.Array, y: jax.Array) -> tuple[Tree, jax.Array]:
    loss, grads = jax.value_and_grad(loss_of)(state["params"], x, y)
    return adam(state, grads), loss


def batch(mesh: Mesh = F, axes: Any = "fsdp") -> tuple[Any, Any]:
    return array((BATCH, DIMS[0]), P(axes), mesh), array((BATCH, DIMS[-1]), P(axes), mesh)


def step_by_hand() -> Callable[..., Any]:
    specs = jax.tree.map(lambda leaf: leaf.sharding.spec, state_like(largest))

    def gathered(leaf: jax.Array, spec: P) -> jax.Array:
        return lax.all_gather(leaf, "fsdp", axis=list(spec).index("fsdp"), tiled=True)

    def step(state: Tree, x: jax.Array, y: jax.Array) -> tuple[Tree, jax.Array]:
        def loss_here(params: Tree) -> jax.Array:
            return loss_of(jax.tree.map(gathered, params, specs["params"]), x, y)

        loss, grads = jax.value_and_grad(loss_here)(state["params"])
        return adam(state, jax.tree.map(lambda g: g / 8, grads)), lax.pmean(loss, "fsdp")

    return jax.shard_map(step, mesh=F, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(specs, P()))


def accumulation() -> Program:
    """6 layers for each of 4 microbatches: 24 gathers and 24 reduce_scatters, all in nested loops."""

    def step(weights: jax.Array, x: jax.Array) -> jax.Array:
        def layer(h: jax.Array, shard: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(h @ lax.all_gather(shard, "fsdp", tiled=True)), None

        def loss(weights: jax.Array, part: jax.Array) -> jax.Array:
            return jnp.sum(lax.scan(layer, part, weights)[0] ** 2)

        def microbatch(total: jax.Array, part: jax.Array) -> tuple[jax.Array, None]:
            return total + jax.grad(loss)(weights, part), None

        total, _ = lax.scan(microbatch, jnp.zeros_like(weights), x)
        return total

    specs = (P(None, "fsdp"), P(None, "fsdp"))
    mapped = jax.shard_map(step, mesh=F, in_specs=specs, out_specs=specs[0])
    return mapped, (array((6, 128, 128), specs[0]), array((4, 64, 128), specs[1])), ()


def pipeline() -> Program:
    """8 microbatches through 4 stages: 11 ticks with one permute each, then a sum of the outputs."""

    def run(weight: jax.Array, x: jax.Array) -> jax.Array:
        stage = lax.axis_index("stage")

        def tick(i: Any, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            held, out = carry
            held = jnp.where(stage == 0, x[jnp.minimum(i, 7)], held)
            held = jnp.tanh(held @ weight[0])
            out = jnp.where(stage == 3, out.at[jnp.maximum(i - 3, 0)].set(held), out)
            return lax.ppermute(held, "stage", [(0, 1), (1, 2), (2, 3)]), out

        start = lax.pcast((jnp.zeros_like(x[0]), jnp.zeros_like(x)), ("stage",), to="varying")
        return lax.psum(lax.fori_loop(0, 11, tick, start)[1], "stage")

    mapped = jax.shard_map(run, mesh=STAGES, in_specs=(P("stage"), P()), out_specs=P())
    return mapped, (array((4, 32, 32), P("stage"), STAGES), array((8, 16, 32), P(), STAGES)), ()


def ring() -> Program:
    """An all_gather made of 7 permutes."""

    def gather(x: jax.Array) -> jax.Array:
        parts = [x]
        for _ in range(7):
            parts.append(lax.ppermute(parts[-1], "fsdp", [(i, (i + 1) % 8) for i in range(8)]))
        return jnp.concatenate(parts)

    return jax.shard_map(gather, mesh=F, in_specs=P("fsdp"), out_specs=P("fsdp")), (array((64, 16), P("fsdp")),), ()


def hybrid(dtype: Any) -> Program:
    """Groups of 4 gather and scatter, groups of 2 reduce."""

    def grad(w: jax.Array, x: jax.Array) -> jax.Array:
        g = x.T @ (x @ lax.all_gather(w, "fsdp", tiled=True))
        return lax.psum(lax.psum_scatter(g, "fsdp", tiled=True), "data")

    specs = (P("fsdp"), P(("data", "fsdp")))
    arrays = (array((64, 64), specs[0], HYBRID, dtype), array((256, 64), specs[1], HYBRID, dtype))
    return jax.shard_map(grad, mesh=HYBRID, in_specs=specs, out_specs=specs[0]), arrays, ()


def tensor_parallel() -> Program:
    """A split by columns, then one by rows: one all_reduce of the result."""

    def run(x: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        return lax.with_sharding_constraint(jax.nn.relu(x @ up) @ down, NamedSharding(F, P()))

    return run, (array((16, 64), P()), array((64, 256), P(None, "fsdp")), array((256, 64), P("fsdp", None))), ()


def shuffle() -> Program:
    def run(x: jax.Array) -> jax.Array:
        return lax.all_to_all(x, "fsdp", 0, 0, tiled=True)

    return jax.shard_map(run, mesh=F, in_specs=P("fsdp"), out_specs=P("fsdp")), (array((64, 16), P("fsdp")),), ()


def nested_loops() -> Program:
    """A loop of 3 trips around a loop of 5 trips around one product of 8x16 and 16x16, on one device."""

    def run(x: jax.Array, w: jax.Array) -> jax.Array:
        def outer(i: Any, x: jax.Array) -> jax.Array:
            return lax.fori_loop(0, 5, lambda j, x: jnp.tanh(x @ w), x) + 1.0

        return lax.fori_loop(0, 3, outer, x)

    return run, (jax.ShapeDtypeStruct((8, 16), jnp.float32), jax.ShapeDtypeStruct((16, 16), jnp.float32)), ()


def data_dependent() -> Program:
    """A reduction in a loop whose end depends on data, and one in a branch."""

    def run(x: jax.Array) -> jax.Array:
        total = lax.while_loop(lambda s: jnp.max(s) < 5, lambda s: lax.psum(s, "fsdp") @ s.T, x)
        return lax.cond(x[0, 0] > 0, lambda s: lax.psum(s * 3.0, "fsdp"), lambda s: s, total)

    mapped = jax.shard_map(run, mesh=F, in_specs=P("fsdp"), out_specs=P("fsdp"), check_vma=False)
    return mapped, (array((64, 8), P("fsdp")),), ()


def products() -> Program:
    """A batched product, one over two dims, and a convolution."""

    def run(a: jax.Array, b: jax.Array, image: jax.Array, kernel: jax.Array) -> tuple[jax.Array, ...]:
        return jnp.einsum("bij,bjk->bik", a, b), jnp.einsum("bij,bij->b", a, a), lax.conv(image, kernel, (1, 1), "SAME")

    shapes = ((4, 8, 16), (4, 16, 32), (2, 3, 16, 16), (8, 3, 3, 3))
    return run, tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes), ()


def strided_gradients() -> Program:
    """Both gradients of a convolution that moves by 2 and leaves out the last row and column."""

    def run(image: jax.Array, kernel: jax.Array) -> tuple[jax.Array, ...]:
        return jax.grad(lambda *two: jnp.sum(lax.conv(*two, (2, 2), "VALID") ** 2), (0, 1))(image, kernel)

    shapes = ((2, 3, 16, 16), (8, 3, 3, 3))
    return run, tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes), ()


SUBMISSION = """
from jax import lax

def run(x):
    y = x * 2
    return lax.psum(y, "fsdp")
"""


def submitted() -> Program:
    names: dict[str, Any] = {}
    exec(compile(SUBMISSION, "submission.py", "exec"), names)
    return jax.shard_map(names["run"], mesh=F, in_specs=P("fsdp"), out_specs=P()), (array((8, 4), P("fsdp")),), ()


def forged() -> Program:
    """An attribute whose key ends the attribute and forges an instruction."""
    key = 'a="b"}\n  %forged = f32[1000,1000] all-gather(%p), replica_groups={}, frontend_attributes={c'

    def run(x: jax.Array) -> jax.Array:
        with set_xla_metadata(**{key: "d"}):
            return x @ x.T

    return run, (array((8, 8), P("fsdp")),), ()


def programs() -> dict[str, Program]:
    sharded, replicated = state_like(largest), state_like(lambda shape: P())
    return {
        "auto_fsdp": (step_auto, (sharded, *batch()), (0,)),
        "auto_fsdp_not_donated": (step_auto, (sharded, *batch()), ()),
        "shard_map_fsdp": (step_by_hand(), (sharded, *batch()), (0,)),
        "data_parallel": (step_auto, (replicated, *batch()), (0,)),
        "accumulation": accumulation(),
        "pipeline": pipeline(),
        "ring": ring(),
        "hybrid": hybrid(jnp.float32),
        "hybrid_bfloat16": hybrid(jnp.bfloat16),
        "tensor_parallel": tensor_parallel(),
        "shuffle": shuffle(),
        "nested_loops": nested_loops(),
        "data_dependent": data_dependent(),
        "products": products(),
        "strided_gradients": strided_gradients(),
        "submitted": submitted(),
        "forged": forged(),
    }


def texts_of(run: Callable[..., Any], arguments: tuple[Any, ...], donated: tuple[int, ...]) -> dict[str, Any]:
    """Export, read back and compile, as a verifier does."""
    exported = jax.export.export(jax.jit(run, donate_argnums=donated))(*arguments)
    exported = jax.export.deserialize(exported.serialize())
    compiled = jax.jit(exported.call, donate_argnums=donated).lower(*arguments).compile()
    memory = compiled.memory_analysis()
    sizes = ("argument", "output", "temp", "alias")
    return {
        "hlo": compiled.as_text(),
        "stablehlo": exported.mlir_module(),
        "memory": {f"{size}_size_in_bytes": getattr(memory, f"{size}_size_in_bytes") for size in sizes},
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({name: texts_of(*program) for name, program in programs().items()}))
