"""The results of all ticks are stacked, and the last stage compares them with the targets after the loop."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def gpipe_grads(mesh, layers, microbatches, targets):
    stages, count = mesh.shape["stage"], microbatches.shape[0]

    @jax.checkpoint
    def apply_stage(own_layers, h):
        for w in own_layers:
            h = jnp.tanh(h @ w)
        return h

    def local_loss(own_layers, microbatches, targets):
        stage = jax.lax.axis_index("stage")

        def tick(arrived, t):
            h = jnp.where(stage == 0, microbatches[jnp.minimum(t, count - 1)], arrived)
            h = apply_stage(own_layers, h)
            return jax.lax.ppermute(h, "stage", [(s, s + 1) for s in range(stages - 1)]), h

        start = jax.lax.pcast(jnp.zeros_like(microbatches[0]), "stage", to="varying")
        _, results = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
        error = jnp.mean((results[stages - 1 :] - targets) ** 2)
        return jax.lax.psum(jnp.where(stage == stages - 1, error, 0.0), "stage")

    return jax.shard_map(
        jax.value_and_grad(local_loss),
        mesh=mesh,
        in_specs=(P("stage"), P(), P()),
        out_specs=(P(), P("stage")),
    )(layers, microbatches, targets)
