"""You closed the ring and added what arrives, so stage 0 also works on finished results."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    def local(own_layers, microbatches):
        stage = jax.lax.axis_index("stage")

        def tick(arrived, t):
            h = arrived + jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], 0)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            return jax.lax.ppermute(h, "stage", [(s, (s + 1) % stages) for s in range(stages)]), h

        nothing = jax.lax.pcast(jnp.zeros_like(microbatches[0]), "stage", to="varying")
        _, results = jax.lax.scan(tick, nothing, jnp.arange(count + stages - 1))
        finished = jnp.where(stage == stages - 1, results[stages - 1 :], 0)
        return jax.lax.psum(finished, "stage")

    return jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P())(layers, microbatches)
