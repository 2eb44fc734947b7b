"""Gathered weights are not kept for the backward pass but gathered again."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
ROWS = P(("data", "fsdp"))


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def build(seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}


def init(mesh, seed):
    state = build(seed)
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def adam(state, grads):
    """The new state, by optax. Works on shards as well as on whole leaves."""
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    @jax.shard_map(mesh=mesh, in_specs=(SPECS, ROWS, ROWS), out_specs=(SPECS, P()))
    def local_step(state, x, y):
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def dense(shards, h):
            kernel, bias = (jax.lax.all_gather(shards[leaf], "fsdp", axis=0, tiled=True) for leaf in ("kernel", "bias"))
            return h @ kernel + bias

        def batch_loss(shards):
            h = x
            for name in ("dense1", "dense2", "dense3"):
                h = dense(shards[name], h if name == "dense1" else nnx.relu(h))
            return jnp.mean((h - y) ** 2)

        # Shards of their own for each group: then AD sums over fsdp only, and what is left to do is on shards.
        own = jax.tree.map(lambda p: jax.lax.pcast(p, "data", to="varying"), state["params"])
        loss, grads = jax.value_and_grad(batch_loss)(own)
        grads = jax.tree.map(lambda g: jax.lax.pmean(g, "data") / jax.lax.axis_size("fsdp"), grads)
        return adam(state, grads), jax.lax.pmean(loss, ("data", "fsdp"))

    return local_step(state, x, y)
