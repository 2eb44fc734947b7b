"""A GPipe pipeline of two stages, layer 1 and layers 2 and 3, in each of several groups that share the batch over data.

Three layers make three stages at most, which divide neither 8 nor 4 devices: hence two. Both stages run one program,
so their parameters have one shape: a vector as long as the longer stage needs, with zeros at the end of the shorter
one.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from lessons.adam_on_mlp import State, adam, descend, place

STAGES = (((40, 128),), ((128, 64), (64, 24)))
MICROBATCHES = 4
SPECS = {"params": P("stage"), "mu": P("stage"), "nu": P("stage"), "count": P()}


def pack(params: Any) -> jax.Array:
    """One row per stage with its parameters, padded with zeros."""
    one, two, three = (
        [params[name]["kernel"].ravel(), params[name]["bias"]] for name in ("dense1", "dense2", "dense3")
    )
    rows = [jnp.concatenate(one), jnp.concatenate([*two, *three])]
    length = max(row.size for row in rows)
    return jnp.stack([jnp.pad(row, (0, length - row.size)) for row in rows])


def unpack(row: jax.Array, stage: int) -> list[tuple[jax.Array, jax.Array]]:
    """The kernel and the bias of each layer of a stage."""
    layers, start = [], 0
    for width, out in STAGES[stage]:
        end = start + width * out
        layers.append((row[start:end].reshape(width, out), row[end : end + out]))
        start = end + out
    return layers


def init(mesh: Mesh, seed: int) -> State:
    """Build the state: parameters and moments of a stage on the devices of that stage."""
    return place(mesh, seed, SPECS, pack)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step and return the new state and the loss before it."""
    elements = y.size

    def varying(array: jax.Array) -> jax.Array:
        return jax.lax.pcast(array, ("data", "stage"), to="varying")

    def varying_over_stage(array: jax.Array) -> jax.Array:
        return jax.lax.pcast(array, "stage", to="varying")

    def first(row: jax.Array, x: jax.Array, arrived: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        ((kernel, bias),) = unpack(row, 0)
        return nnx.relu(x @ kernel + bias), varying(jnp.zeros(()))

    def last(row: jax.Array, x: jax.Array, arrived: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        (kernel2, bias2), (kernel3, bias3) = unpack(row, 1)
        error = nnx.relu(arrived @ kernel2 + bias2) @ kernel3 + bias3 - y
        return varying(jnp.zeros(arrived.shape)), jnp.sum(error**2) / elements

    def loss_fn(params: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        row = jax.lax.pcast(params[0], "data", to="varying")
        stage = jax.lax.axis_index("stage")
        xs = varying_over_stage(x.reshape(MICROBATCHES, -1, x.shape[-1]))
        ys = varying_over_stage(y.reshape(MICROBATCHES, -1, y.shape[-1]))

        def tick(arrived: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
            # At tick t, stage 1 has the microbatch that stage 0 had at tick t - 1. At the first tick it has none.
            x, y = xs[jnp.minimum(t, MICROBATCHES - 1)], ys[jnp.maximum(t - 1, 0)]
            h, loss = jax.lax.cond(stage == 0, first, last, row, x, arrived, y)
            return jax.lax.ppermute(h, "stage", [(0, 1)]), jnp.where(t > 0, loss, 0)

        nothing = varying(jnp.zeros((xs.shape[1], STAGES[0][-1][1])))
        _, losses = jax.lax.scan(tick, nothing, jnp.arange(MICROBATCHES + 1))
        return jax.lax.psum(jnp.sum(losses), ("data", "stage"))

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("data"), P("data")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        # All data groups have the same parameters, so an all_reduce sums the gradient over data.
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        directions, new = adam(state, grads)
        return {**new, "params": descend(state["params"], directions)}, loss

    return local_step(state, x, y)
