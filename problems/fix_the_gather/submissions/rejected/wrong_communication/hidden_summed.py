"""An array of hidden units is summed over tensor. One possible cause: each device writes its hidden units into zeros, and a psum puts them together."""

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
            own = hidden.shape[1]
            first = jax.lax.axis_index("tensor") * own
            empty = jnp.zeros((hidden.shape[0], own * jax.lax.axis_size("tensor")))
            empty = jax.lax.pcast(empty, ("data", "tensor"), to="varying")
            whole = jax.lax.psum(jax.lax.dynamic_update_slice(empty, hidden, (0, first)), "tensor")
            hidden = jax.lax.dynamic_slice_in_dim(whole, first, own, axis=1)
            out = jax.lax.psum(hidden @ weights["w_out"], "tensor")
            return jax.lax.pmean(jnp.mean((out - y) ** 2), "data")

        return jax.value_and_grad(loss_fn)(weights)

    return local({"w_in": w_in, "w_out": w_out}, x, y)
