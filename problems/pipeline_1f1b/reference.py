"""One scan over M + 2S - 2 ticks: in each, a stage runs one microbatch forward and another one backward."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def apply_stage(own_layers: jax.Array, h: jax.Array) -> jax.Array:
    """The layers of one stage, h = tanh(h @ w)."""
    for w in own_layers:
        h = jnp.tanh(h @ w)
    return h


def pipeline_1f1b(
    mesh: Mesh, layers: jax.Array, microbatches: jax.Array, targets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The mean squared error of all microbatches after all layers, and its gradient by `layers`."""
    stages, count = mesh.shape["stage"], microbatches.shape[0]
    down = [(s, s + 1) for s in range(stages - 1)]
    up = [(s + 1, s) for s in range(stages - 1)]
    slots = 2 * stages - 1

    def local(own_layers: jax.Array, microbatches: jax.Array, targets: jax.Array) -> tuple[jax.Array, jax.Array]:
        stage = jax.lax.axis_index("stage")
        last = stage == stages - 1

        def tick(carry: Any, t: jax.Array) -> tuple[Any, None]:
            arrived, gradient, kept, loss, of_layers = carry
            # Forward: microbatch t - s. Its input waits in a slot until its gradient comes back.
            m = t - stage
            h = jnp.where(stage == 0, microbatches[jnp.clip(m, 0, count - 1)], arrived)
            kept = kept.at[m % slots].set(h)
            out = apply_stage(own_layers, h)

            # Backward: the microbatch that went forward 2 (S - 1 - s) ticks ago. On the last stage that is this one.
            m = t - (2 * stages - 2 - stage)
            mine = (m >= 0) & (m < count)
            again, pull = jax.vjp(apply_stage, own_layers, kept[m % slots])
            error = again - targets[jnp.clip(m, 0, count - 1)]
            gradient = jnp.where(last, 2 * error / targets.size, gradient)
            of_own, of_input = pull(jnp.where(mine, gradient, 0.0))
            loss = loss + jnp.where(mine & last, jnp.sum(error**2) / targets.size, 0.0)

            out, of_input = jax.lax.ppermute(out, "stage", down), jax.lax.ppermute(of_input, "stage", up)
            return (out, of_input, kept, loss, of_layers + of_own), None

        nothing = jnp.zeros_like(microbatches[0])
        start = (nothing, nothing, jnp.zeros((slots, *nothing.shape)), jnp.zeros(()))
        start = (*jax.lax.pcast(start, "stage", to="varying"), jnp.zeros_like(own_layers))
        (_, _, _, loss, of_layers), _ = jax.lax.scan(tick, start, jnp.arange(count + 2 * stages - 2))
        return jax.lax.psum(loss, "stage"), of_layers

    return jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P(), P()), out_specs=(P(), P("stage")))(
        layers, microbatches, targets
    )
