"""You returned a loss for each microbatch, but the batch has one. Divide each by the count of all tokens, and add them
up."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    embed, hidden, out = nnx.Embed(64, 32, rngs=rngs), nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 64, rngs=rngs)
    layers = {"embed": embed, "hidden": hidden, "out": out}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def nll(params, tokens, targets):
    hidden = jnp.tanh(params["embed"]["embedding"][tokens] @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = hidden @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets)


def step(mesh, state, tokens, targets, mask):
    def mean(params, x, y, m):
        return jnp.sum(nll(params, x, y) * m) / jnp.sum(mask)

    def add(total, batch):
        loss, grads = jax.value_and_grad(mean)(state["params"], *batch)
        return jax.tree.map(jnp.add, total, grads), loss

    grads, loss = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, state["params"]), (tokens, targets, mask))
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
