"""No stage has a backward slot in the first S - 1 ticks, and none has a forward slot in the last S - 1: three
loops."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def apply_stage(own_layers, h):
    for w in own_layers:
        h = jnp.tanh(h @ w)
    return h


def pipeline_1f1b(mesh, layers, microbatches, targets):
    stages, count = mesh.shape["stage"], microbatches.shape[0]
    down = [(s, s + 1) for s in range(stages - 1)]
    up = [(s + 1, s) for s in range(stages - 1)]
    slots = 2 * stages - 1

    def local(own_layers, microbatches, targets):
        stage = jax.lax.axis_index("stage")
        last = stage == stages - 1

        def forward(carry, t):
            m = t - stage
            h = jnp.where(stage == 0, microbatches[jnp.clip(m, 0, count - 1)], carry["arrived"])
            kept = carry["kept"].at[m % slots].set(h)
            arrived = jax.lax.ppermute(apply_stage(own_layers, h), "stage", down)
            return carry | {"arrived": arrived, "kept": kept}, None

        def backward(carry, t):
            m = t - (2 * stages - 2 - stage)
            mine = (m >= 0) & (m < count)
            again, pull = jax.vjp(apply_stage, own_layers, carry["kept"][m % slots])
            error = again - targets[jnp.clip(m, 0, count - 1)]
            gradient = jnp.where(last, 2 * error / targets.size, carry["gradient"])
            of_own, of_input = pull(jnp.where(mine, gradient, 0.0))
            loss = carry["loss"] + jnp.where(mine & last, jnp.sum(error**2) / targets.size, 0.0)
            gradient = jax.lax.ppermute(of_input, "stage", up)
            return carry | {"gradient": gradient, "loss": loss, "grads": carry["grads"] + of_own}, None

        def both(carry, t):
            return backward(forward(carry, t)[0], t)

        nothing = jnp.zeros_like(microbatches[0])
        kept = jnp.zeros((slots, *nothing.shape))
        start = {"arrived": nothing, "gradient": nothing, "kept": kept, "loss": jnp.zeros(())}
        carry = jax.lax.pcast(start, "stage", to="varying") | {"grads": jnp.zeros_like(own_layers)}
        carry, _ = jax.lax.scan(forward, carry, jnp.arange(stages - 1))
        carry, _ = jax.lax.scan(both, carry, stages - 1 + jnp.arange(count))
        carry, _ = jax.lax.scan(backward, carry, stages - 1 + count + jnp.arange(stages - 1))
        return jax.lax.psum(carry["loss"], "stage"), carry["grads"]

    return jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P(), P()), out_specs=(P(), P("stage")))(
        layers, microbatches, targets
    )
