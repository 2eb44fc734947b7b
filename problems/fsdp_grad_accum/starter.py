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
    """Build the parameters and split each leaf along dimension 0. This function is complete."""
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def mean_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over these rows, with whole weights. This function is complete."""
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean loss of six microbatches, with one exchange of weights and one of gradients.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (6, B, 40) float32, six microbatches with rows split over "fsdp".
      y: (6, B, 24) float32, split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update.
    """
    rows = P(None, "fsdp")

    def loss_of_shards(shards: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)
        return jax.lax.pmean(mean_loss(whole, x, y), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(P("fsdp"), rows, rows), out_specs=(P("fsdp"), P()))
    def local_step(shards: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        # The values are right, but every microbatch communicates. What has to happen before, in and after the loop?
        def add(total: Any, batch: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_of_shards)(shards, *batch)), None

        zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, shards)
        (loss, grads), _ = jax.lax.scan(add, zero, (x, y))
        return jax.tree.map(lambda p, g: p - 0.5 * g / len(x), shards, grads), loss / len(x)

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
