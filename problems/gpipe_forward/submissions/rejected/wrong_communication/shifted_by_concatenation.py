"""You shifted stages by concatenating unequal pieces, which the partitioner turns into all_to_alls; roll becomes a
permute."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages = mesh.shape["stage"]
    count, rows, width = microbatches.shape

    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def work(own_layers, h):
        return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), h, own_layers)[0]

    by_stage = pin(layers.reshape(stages, -1, width, width), "stage")

    def tick(state, t):
        state = jnp.concatenate([microbatches[jnp.minimum(t, count - 1)][None], state[:-1]])
        state = pin(jax.vmap(work)(by_stage, pin(state, "stage")), "stage")
        return state, state

    _, states = jax.lax.scan(tick, pin(jnp.zeros((stages, rows, width)), "stage"), jnp.arange(count + stages - 1))
    return pin(pin(states, None, "stage")[stages - 1 :, -1])
