from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LEARNING_RATE, EPSILON = 1e-2, 1e-4
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


@partial(jax.jit, static_argnums=0)
def init(mesh: Mesh, seed: int) -> State:
    """Build the state with every leaf but the count split along dimension 0. This function is complete."""
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}
    return {
        name: jax.lax.with_sharding_constraint(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }


def forward(params: dict[str, Any], x: jax.Array) -> jax.Array:
    """The network with whole weights, (rows, 40) to (rows, 24)."""
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return nnx.merge(graph, params)(x)


def adam_update(state: State, grads: Any) -> State:
    """Update params, mu, nu and count by one Adam step. This function is finished.

    Every line is elementwise, so it works on whole leaves and on shards, and needs no communication. It changes no
    placement: you still have to place the new leaves.
    """
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step, FSDP style, with collectives that you write yourself.

    Args:
      mesh: one axis, "fsdp", of 8 or of 4 devices.
      state: params, mu, nu and count, as init places them.
      x: the global batch, (B, 40), split by rows over "fsdp".
      y: the targets, (B, 24), split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update, a float32 scalar.
    """

    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        # Everything in here is local: with 8 devices, params["dense1"]["kernel"] has 5 of its 40 rows, and x has B / 8.
        # To do: gather the weights, differentiate the loss, reduce and scatter the gradients. adam_update(state, grads)
        # then updates the shards that this device owns.
        loss = jax.lax.pmean(jnp.mean(y**2), "fsdp")
        return state, loss

    return local_step(state, x, y)
