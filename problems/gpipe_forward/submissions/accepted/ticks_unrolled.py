"""No loop in the program: ticks written out by Python, a ring of neighbours, no send after the last tick."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    @jax.shard_map(mesh=mesh, in_specs=(P("stage"), P()), out_specs=P())
    def run(own_layers, microbatches):
        stage = jax.lax.axis_index("stage")
        h = jnp.zeros(microbatches.shape[1:])
        finished = []
        for t in range(count + stages - 1):
            h = jnp.where(stage == 0, microbatches[min(t, count - 1)], h)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            if t >= stages - 1:
                finished.append(jnp.where(stage == stages - 1, h, 0))
            if t < count + stages - 2:
                h = jax.lax.ppermute(h, "stage", [(s, (s + 1) % stages) for s in range(stages)])
        return jax.lax.psum(jnp.stack(finished), "stage")

    return run(layers, microbatches)
