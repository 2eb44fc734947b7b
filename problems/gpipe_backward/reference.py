"""jax.checkpoint around the work of a tick, but not around its send: each tick keeps what arrived, and nothing else."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gpipe_grads(
    mesh: Mesh, layers: jax.Array, microbatches: jax.Array, targets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The mean squared error of h = tanh(h @ w) through all layers, and its gradient by `layers`."""
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    def local_loss(own_layers: jax.Array, microbatches: jax.Array, targets: jax.Array) -> jax.Array:
        stage = jax.lax.axis_index("stage")

        @jax.checkpoint
        def work(own_layers: jax.Array, arrived: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
            h = jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], arrived)
            for w in own_layers:
                h = jnp.tanh(h @ w)
            # The last stage finishes microbatch m at tick m + S - 1. Everything else that ends here is no result.
            m = t - (stages - 1)
            error = jnp.mean((h - targets[jnp.maximum(m, 0)]) ** 2) / count
            return h, jnp.where((stage == stages - 1) & (m >= 0), error, 0.0)

        def tick(carry: tuple[jax.Array, jax.Array], t: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
            arrived, loss = carry
            h, error = work(own_layers, arrived, t)
            return (jax.lax.ppermute(h, "stage", [(s, s + 1) for s in range(stages - 1)]), loss + error), None

        start = (jnp.zeros_like(microbatches[0]), jnp.zeros(()))
        start = jax.lax.pcast(start, "stage", to="varying")
        (_, loss), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
        return jax.lax.psum(loss, "stage")

    return jax.shard_map(
        jax.value_and_grad(local_loss),
        mesh=mesh,
        in_specs=(P("stage"), P(), P()),
        out_specs=(P(), P("stage")),
    )(layers, microbatches, targets)
