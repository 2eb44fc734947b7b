"""Leaves are whole while `init` runs, although the result is split. Possible causes: a constraint to `P()` before the
right one, or Explicit axes, on which the initializers draw whole arrays."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HIDDEN = 240, 48, 192


class Model(nnx.Module):
    def __init__(self, rngs):
        places = {"out_sharding": ("model", None), "optimizer_sharding": ("model", "data")}
        self.embed = nnx.Embed(VOCAB, WIDTH, embedding_metadata=places, rngs=rngs)
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        columns, rows = {"out_sharding": (None, "model")}, {"out_sharding": ("model", None)}
        biases = {"out_sharding": ("model",)}
        self.up = nnx.Linear(WIDTH, HIDDEN, kernel_metadata=columns, bias_metadata=biases, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, kernel_metadata=rows, rngs=rngs)
        head = nnx.initializers.lecun_normal()(rngs.params(), (WIDTH, VOCAB))
        self.head = nnx.Param(head, out_sharding=(None, "model"))

    def __call__(self, tokens):
        h = self.embed(tokens)
        return (h + self.down(nnx.gelu(self.up(self.norm(h))))) @ self.head[...]


class Training(nnx.Module):
    def __init__(self, seed):
        with nnx.use_eager_sharding(False):
            self.model = Model(nnx.Rngs(jax.random.key(seed)))
            self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2, eps=1e-2), wrt=nnx.Param)


def init(mesh, seed):
    state = nnx.state(Training(seed))
    state = jax.lax.with_sharding_constraint(state, NamedSharding(mesh, P()))
    return nnx.to_pure_dict(jax.lax.with_sharding_constraint(state, nnx.get_named_sharding(state, mesh)))


def step(mesh, state, tokens, targets):
    graph, leaves = nnx.split(nnx.eval_shape(lambda: Training(0)))
    nnx.replace_by_pure_dict(leaves, state)
    training = nnx.merge(graph, leaves)

    def loss_fn(model):
        return jnp.sum(optax.softmax_cross_entropy_with_integer_labels(model(tokens), targets))

    loss, grads = nnx.value_and_grad(loss_fn)(training.model)
    training.optimizer.update(training.model, grads)
    new = nnx.state(training)
    new = jax.lax.with_sharding_constraint(new, nnx.get_named_sharding(new, mesh))
    return nnx.to_pure_dict(new), loss
