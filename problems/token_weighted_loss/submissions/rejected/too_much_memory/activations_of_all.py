"""The scan is inside the function that is differentiated, so it keeps the activations of every microbatch until the
backward pass. Differentiate each microbatch inside the loop, or wrap its body in jax.checkpoint."""

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
    def loss_fn(params):
        def add(total, batch):
            x, y, m = batch
            return total + jnp.sum(nll(params, x, y) * m), None

        total, _ = jax.lax.scan(add, jnp.zeros(()), (tokens, targets, mask))
        return total / jnp.sum(mask)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
