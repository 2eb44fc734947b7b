"""Explicit axes: each product states where its result lives."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P


def loss_and_grads(mesh, w_in, w_out, x, y):
    specs = {"w_in": P(None, "tensor"), "w_out": P("tensor")}

    @jax.sharding.explicit_axes(axes=("data", "tensor"), in_sharding=(specs, P("data"), P("data")))
    def explicit(weights, x, y):
        def loss_fn(weights):
            both = jnp.einsum("bd,dhg->bhg", x, weights["w_in"])
            hidden = jax.nn.silu(both[..., 0]) * both[..., 1]
            out = jnp.matmul(hidden, weights["w_out"], out_sharding=P("data"))
            return jnp.mean((out - y) ** 2)

        return jax.value_and_grad(loss_fn)(weights)

    assert AxisType.Explicit not in mesh.axis_types
    loss, grads = explicit({"w_in": w_in, "w_out": w_out}, x, y)
    pin = jax.lax.with_sharding_constraint
    return loss, {name: pin(each, NamedSharding(mesh, specs[name])) for name, each in grads.items()}
