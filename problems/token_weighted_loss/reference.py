"""One count for all devices and microbatches, known before the loop. Everything after it is a sum."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and put a complete copy on every device."""
    rngs = nnx.Rngs(seed)
    embed, hidden, out = nnx.Embed(64, 32, rngs=rngs), nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 64, rngs=rngs)
    layers = {"embed": embed, "hidden": hidden, "out": out}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def nll(params: Any, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """Return the loss of each token: the negative log-likelihood of its target, in the shape of `tokens`."""
    hidden = jnp.tanh(params["embed"]["embedding"][tokens] @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = hidden @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets)


def step(mesh: Mesh, state: State, tokens: jax.Array, targets: jax.Array, mask: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean loss of all tokens that the mask counts. Return the new state and that loss."""
    count = jnp.sum(mask)

    def part(params: Any, x: jax.Array, y: jax.Array, m: jax.Array) -> jax.Array:
        return jnp.sum(nll(params, x, y) * m) / count

    def add(total: Any, batch: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, jax.value_and_grad(part)(state["params"], *batch)), None

    zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, state["params"])
    (loss, grads), _ = jax.lax.scan(add, zero, (tokens, targets, mask))
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
