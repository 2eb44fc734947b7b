"""Every device computes its hidden units for all rows of the batch. One possible cause: a constraint such as P(None, "tensor") on an activation, which says that its rows are whole along data."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def loss_and_grads(mesh, w_in, w_out, x, y):
    def place(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def loss_fn(weights):
        both = place(jnp.einsum("bd,dhg->bhg", x, weights["w_in"]), None, "tensor")
        gate, up = both[..., 0], both[..., 1]
        hidden = place(jax.nn.silu(gate) * up, "data", "tensor")
        out = place(hidden @ weights["w_out"], "data")
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)({"w_in": w_in, "w_out": w_out})
    return loss, {"w_in": place(grads["w_in"], None, "tensor"), "w_out": place(grads["w_out"], "tensor")}
