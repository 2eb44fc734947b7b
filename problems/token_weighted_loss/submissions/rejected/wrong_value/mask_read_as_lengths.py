"""A row's mask is read as a length: the first tokens of each row count, as many as the mask has ones. The mask says which tokens count, not how many."""

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
    lengths = jnp.sum(mask, axis=-1, keepdims=True)
    mask = (jnp.arange(mask.shape[-1]) < lengths).astype(jnp.float32)

    def add(carry, batch):
        x, y, m = batch
        return jax.tree.map(jnp.add, carry, jax.value_and_grad(total)(state["params"], x, y, m)), None

    def total(params, x, y, m):
        return jnp.sum(nll(params, x, y) * m)

    zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, state["params"])
    sums, _ = jax.lax.scan(add, zero, (tokens, targets, mask))
    loss, grads = jax.tree.map(lambda each: each / jnp.sum(mask), sums)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
