"""Both weights are gathered, so every device has all hidden units of its rows. One possible cause: all_gather over tensor inside shard_map, or specs of weights without tensor."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def loss_and_grads(mesh, w_in, w_out, x, y):
    specs = {"w_in": P(None, "tensor"), "w_out": P("tensor")}

    @partial(jax.shard_map, mesh=mesh, in_specs=(specs, P("data"), P("data")), out_specs=(P(), specs))
    def local(weights, x, y):
        def loss_fn(weights):
            w_in = jax.lax.all_gather(weights["w_in"], "tensor", axis=1, tiled=True)
            w_out = jax.lax.all_gather(weights["w_out"], "tensor", tiled=True)
            both = jnp.einsum("bd,dhg->bhg", x, w_in)
            hidden = jax.nn.silu(both[..., 0]) * both[..., 1]
            out = jax.lax.pmean(hidden @ w_out, "tensor")
            return jax.lax.pmean(jnp.mean((out - y) ** 2), "data")

        return jax.value_and_grad(loss_fn)(weights)

    return local({"w_in": w_in, "w_out": w_out}, x, y)
