"""Gather base and adapters inside the loss, and differentiate with respect to the adapters alone."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Params = dict[str, Any]
State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4
WIDTHS, RANK, SCALE = (40, 136, 88, 24), 16, 2.0
LAYERS = ("dense1", "dense2", "dense3")
SPECS = {"base": P("fsdp"), "adapters": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


def build(seed: int) -> tuple[Params, Params]:
    """The frozen base, and adapters that add nothing to it yet."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    base, adapters = {}, {}
    for name, inputs, outputs in zip(LAYERS, WIDTHS[:-1], WIDTHS[1:], strict=True):
        base[name] = {
            "kernel": normal(inputs, outputs) / np.float32(inputs**0.5),
            "bias": np.float32(0.1) * normal(outputs),
        }
        adapters[name] = {
            "a": normal(inputs, RANK) / np.float32(inputs**0.5),
            "b": np.zeros((RANK, outputs), np.float32),
        }
    return base, adapters


def init(mesh: Mesh, seed: int) -> State:
    """Build the state, everything but the count split along dimension 0. Only adapters have moments."""
    base, adapters = build(seed)
    zeros = jax.tree.map(np.zeros_like, adapters)
    state = {"base": base, "adapters": adapters, "mu": zeros, "nu": zeros, "count": np.zeros((), np.int32)}
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step of the adapters and return the new state and the loss before it."""

    def gather(shards: Params) -> Params:
        return jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)

    def loss_fn(adapters: Params, base: Params, x: jax.Array, y: jax.Array) -> jax.Array:
        base, adapters = gather(base), gather(adapters)
        for name in LAYERS:
            low = SCALE * (x @ adapters[name]["a"]) @ adapters[name]["b"]
            x = x @ base[name]["kernel"] + base[name]["bias"] + low
            x = x if name == LAYERS[-1] else jax.nn.relu(x)
        return jax.lax.pmean(jnp.mean((x - y) ** 2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        adapters = state["adapters"]
        loss, grads = jax.value_and_grad(loss_fn)(adapters, state["base"], x, y)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
        adapters = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, adapters, directions)
        new = {"base": state["base"], "adapters": adapters, "mu": moments.mu, "nu": moments.nu}
        return new | {"count": moments.count}, loss

    return local_step(state, x, y)
