"""Gather, scan over microbatches, reduce_scatter: the loop has no communication."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and split each leaf along dimension 0."""
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def mean_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over all elements of `y`."""
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean loss of all microbatches. Return the new state and the loss before it."""
    rows = P(None, "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("fsdp"), rows, rows), out_specs=(P("fsdp"), P()))
    def local_step(shards: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)

        def add(total: Any, batch: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, jax.value_and_grad(mean_loss)(whole, *batch)), None

        zero = jax.lax.pcast(jnp.zeros(()), "fsdp", to="varying"), jax.tree.map(jnp.zeros_like, whole)
        (loss, grads), _ = jax.lax.scan(add, zero, (x, y))
        # Sums over microbatches and devices, of means over equally many rows: divide once, by both numbers.
        parts = len(x) * jax.lax.axis_size("fsdp")
        grads = jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", tiled=True) / parts, grads)
        return jax.tree.map(lambda p, g: p - 0.5 * g, shards, grads), jax.lax.psum(loss, "fsdp") / parts

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
