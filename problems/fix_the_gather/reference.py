"""The array that feeds gate and up is split by rows and by hidden units, like the products of its slices."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Grads = dict[str, jax.Array]


def loss_and_grads(
    mesh: Mesh, w_in: jax.Array, w_out: jax.Array, x: jax.Array, y: jax.Array
) -> tuple[jax.Array, Grads]:
    """Compute the mean squared error of a gated MLP block, and its gradients."""

    def place(array: jax.Array, *spec: str | None) -> jax.Array:
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def loss_fn(weights: Grads) -> jax.Array:
        both = place(jnp.einsum("bd,dhg->bhg", x, weights["w_in"]), "data", "tensor")
        gate, up = both[..., 0], both[..., 1]
        hidden = place(jax.nn.silu(gate) * up, "data", "tensor")
        out = place(hidden @ weights["w_out"], "data")
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)({"w_in": w_in, "w_out": w_out})
    return loss, {"w_in": place(grads["w_in"], None, "tensor"), "w_out": place(grads["w_out"], "tensor")}
