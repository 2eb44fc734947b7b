import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Grads = dict[str, jax.Array]


def loss_and_grads(
    mesh: Mesh, w_in: jax.Array, w_out: jax.Array, x: jax.Array, y: jax.Array
) -> tuple[jax.Array, Grads]:
    """Compute the loss of a gated MLP block, and its gradients. The numbers are right; the traffic is not.

    Args:
      mesh: two axes, "data" and "tensor".
      w_in: (D, H, 2) float32, split by hidden units, dimension 1. The last dimension is gate and up.
      w_out: (H, D) float32, split by hidden units, dimension 0.
      x, y: (B, D) float32, split by rows over "data".
    Returns:
      The loss, and the gradients by name, each split like its weight.
    """

    def place(array: jax.Array, *spec: str | None) -> jax.Array:
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def loss_fn(weights: Grads) -> jax.Array:
        both = place(jnp.einsum("bd,dhg->bhg", x, weights["w_in"]), "data")
        gate, up = both[..., 0], both[..., 1]
        hidden = place(jax.nn.silu(gate) * up, "data", "tensor")
        out = place(hidden @ weights["w_out"], "data")
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)({"w_in": w_in, "w_out": w_out})
    return loss, {"w_in": place(grads["w_in"], None, "tensor"), "w_out": place(grads["w_out"], "tensor")}
