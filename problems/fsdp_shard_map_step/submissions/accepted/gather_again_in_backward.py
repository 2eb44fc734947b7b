"""Layer by layer, with a checkpoint policy that forgets gathered weights, so that the backward pass gathers again."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}
TX = optax.adam(1e-2, eps=1e-4)


def init(mesh: Mesh, seed: int):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    params = jax.device_put(params, NamedSharding(mesh, P("fsdp")))
    zeros = jax.tree.map(jnp.zeros_like, params)
    sharded = {"params": params, "mu": zeros, "nu": jax.tree.map(jnp.copy, zeros)}
    return sharded | {"count": jax.device_put(jnp.zeros((), jnp.int32), NamedSharding(mesh, P()))}


@partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
def layer(shards, h):
    whole = {name: jax.lax.all_gather(shard, "fsdp", tiled=True) for name, shard in shards.items()}
    return h @ whole["kernel"] + whole["bias"]


def loss_fn(params, x, y):
    h = x
    for name in LAYERS:
        h = layer(params[name], h)
        h = h if name == "dense3" else jax.nn.relu(h)
    return jax.lax.psum(jnp.sum((h - y) ** 2), "fsdp") / (y.size * jax.lax.axis_size("fsdp"))


def step(mesh: Mesh, state, x, y):
    specs = jax.tree.map(lambda leaf: P("fsdp") if leaf.ndim else P(), state)

    @jax.shard_map(mesh=mesh, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(specs, P()))
    def local_step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        opt_state = (optax.ScaleByAdamState(state["count"], state["mu"], state["nu"]), optax.EmptyState())
        updates, (adam, _) = TX.update(grads, opt_state, state["params"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "mu": adam.mu, "nu": adam.nu, "count": adam.count}, loss

    return local_step(state, x, y)
