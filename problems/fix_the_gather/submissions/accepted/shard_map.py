"""The block in shard_map: a psum over tensor, and gradients that are summed over data by the transposition."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def loss_and_grads(mesh, w_in, w_out, x, y):
    specs = {"w_in": P(None, "tensor"), "w_out": P("tensor")}

    @partial(jax.shard_map, mesh=mesh, in_specs=(specs, P("data"), P("data")), out_specs=(P(), specs))
    def local(weights, x, y):
        def loss_fn(weights):
            both = jnp.einsum("bd,dhg->bhg", x, weights["w_in"])
            hidden = jax.nn.silu(both[..., 0]) * both[..., 1]
            out = jax.lax.psum(hidden @ weights["w_out"], "tensor")
            return jax.lax.pmean(jnp.mean((out - y) ** 2), "data")

        return jax.value_and_grad(loss_fn)(weights)

    return local({"w_in": w_in, "w_out": w_out}, x, y)
