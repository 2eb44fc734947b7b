"""nnx modules, optax.sgd, and jnp.sum with `where` instead of a product."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(Model(nnx.Rngs(seed)), nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(64, 32, rngs=rngs)
        self.hidden = nnx.Linear(32, 48, rngs=rngs)
        self.out = nnx.Linear(48, 64, rngs=rngs)

    def __call__(self, tokens):
        return self.out(nnx.tanh(self.hidden(self.embed(tokens))))


def step(mesh, state, tokens, targets, mask):
    graph = nnx.graphdef(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))
    count = jnp.sum(mask)

    def loss_fn(params, x, y, m):
        losses = optax.softmax_cross_entropy_with_integer_labels(nnx.merge(graph, params)(x), y)
        return jnp.sum(losses, where=m > 0) / count

    def add(grads, batch):
        loss, more = jax.value_and_grad(loss_fn)(state["params"], *batch)
        return jax.tree.map(jnp.add, grads, more), loss

    zero = jax.tree.map(jnp.zeros_like, state["params"])
    grads, losses = jax.lax.scan(add, zero, (tokens, targets, mask))
    updates, _ = optax.sgd(0.5).update(grads, optax.sgd(0.5).init(state["params"]))
    return {"params": optax.apply_updates(state["params"], updates)}, jnp.sum(losses)
