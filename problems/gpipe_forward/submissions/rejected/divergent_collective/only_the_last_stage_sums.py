"""You summed in a branch that only the last stage takes. It waits there for stages that never come."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    def local(own_layers, microbatches):
        stage = jax.lax.axis_index("stage")

        def tick(arrived, t):
            h = jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], arrived)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            return jax.lax.ppermute(h, "stage", [(s, s + 1) for s in range(stages - 1)]), h

        nothing = jax.lax.pcast(jnp.zeros_like(microbatches[0]), "stage", to="varying")
        _, results = jax.lax.scan(tick, nothing, jnp.arange(count + stages - 1))
        return jax.lax.cond(
            stage == stages - 1,
            lambda finished: jax.lax.psum(finished, "stage"),
            lambda finished: finished,
            results[stages - 1 :],
        )

    specs = (P("stage"), P())
    run = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)
    return run(layers, microbatches)
