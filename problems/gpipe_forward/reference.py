"""One scan over M + S - 1 ticks: every tick, each stage applies its layers and sends its result to the next stage."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gpipe(mesh: Mesh, layers: jax.Array, microbatches: jax.Array) -> jax.Array:
    """Every microbatch through all layers, h = tanh(h @ w), the layers split over the mesh axis "stage"."""
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    def local(own_layers: jax.Array, microbatches: jax.Array) -> jax.Array:
        stage = jax.lax.axis_index("stage")

        def tick(arrived: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
            h = jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], arrived)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            return jax.lax.ppermute(h, "stage", [(s, s + 1) for s in range(stages - 1)]), h

        nothing = jax.lax.pcast(jnp.zeros_like(microbatches[0]), "stage", to="varying")
        _, results = jax.lax.scan(tick, nothing, jnp.arange(count + stages - 1))
        # The last stage finishes microbatch m at tick m + S - 1. All others hold what was on its way: count it as 0.
        finished = jnp.where(stage == stages - 1, results[stages - 1 :], 0)
        return jax.lax.psum(finished, "stage")

    return jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P())(layers, microbatches)
