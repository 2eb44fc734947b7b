"""You returned the whole buffer of results from every tick, so the loop keeps M + S - 1 copies of it."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    def local(own_layers, microbatches):
        stage = jax.lax.axis_index("stage")

        def tick(carry, t):
            arrived, finished = carry
            h = jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], arrived)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            finished = finished.at[jnp.maximum(t - (stages - 1), 0)].set(h)
            return (jax.lax.ppermute(h, "stage", [(s, s + 1) for s in range(stages - 1)]), finished), finished

        nothing = jax.lax.pcast((jnp.zeros_like(microbatches[0]), jnp.zeros_like(microbatches)), "stage", to="varying")
        _, buffers = jax.lax.scan(tick, nothing, jnp.arange(count + stages - 1))
        return jax.lax.psum(jnp.where(stage == stages - 1, buffers[-1], 0), "stage")

    specs = (P("stage"), P())
    run = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P())
    return run(layers, microbatches)
