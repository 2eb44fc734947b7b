from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and put a complete copy on every device. This function is complete."""
    rngs = nnx.Rngs(seed)
    embed, hidden, out = nnx.Embed(64, 32, rngs=rngs), nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 64, rngs=rngs)
    layers = {"embed": embed, "hidden": hidden, "out": out}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def nll(params: Any, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """Return the loss of each token, in the shape of `tokens`. This function is complete."""
    hidden = jnp.tanh(params["embed"]["embedding"][tokens] @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = hidden @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets)


def step(mesh: Mesh, state: State, tokens: jax.Array, targets: jax.Array, mask: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean loss of all tokens that the mask counts.

    Args:
      mesh: one axis, "data", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      tokens, targets: (6, B, T) int32, six microbatches with rows split over "data".
      mask: (6, B, T) float32, 1 for a token that counts and 0 for padding.
    Returns:
      The new state and the loss before the update.
    """

    def mean(params: Any, x: jax.Array, y: jax.Array, m: jax.Array) -> jax.Array:
        return jnp.mean(nll(params, x, y))  # Which tokens count, and what is this divided by?

    def add(total: Any, batch: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, jax.value_and_grad(mean)(state["params"], *batch)), None

    zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, state["params"])
    (loss, grads), _ = jax.lax.scan(add, zero, (tokens, targets, mask))
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
