"""The parameters are placed, but the moments are whole. The optimizer was created before the parameters had a sharding,
and a later constraint on the parameters does not reach the moments. State the shardings as metadata, before the
optimizer is created."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HIDDEN = 240, 48, 192
SPECS = {
    "embed": {"embedding": P("model", None)},
    "norm": {"scale": P()},
    "up": {"kernel": P(None, "model"), "bias": P("model")},
    "down": {"kernel": P("model", None), "bias": P()},
    "head": P(None, "model"),
}


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCAB, WIDTH, rngs=rngs)
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, rngs=rngs)
        self.head = nnx.Param(nnx.initializers.lecun_normal()(rngs.params(), (WIDTH, VOCAB)))

    def __call__(self, tokens):
        h = self.embed(tokens)
        return (h + self.down(nnx.gelu(self.up(self.norm(h))))) @ self.head[...]


class Training(nnx.Module):
    def __init__(self, seed):
        self.model = Model(nnx.Rngs(jax.random.key(seed)))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2, eps=1e-2), wrt=nnx.Param)


def init(mesh, seed):
    training = Training(seed)
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    nnx.update(training.model, jax.lax.with_sharding_constraint(nnx.to_pure_dict(nnx.state(training.model)), places))
    return nnx.to_pure_dict(nnx.state(training))


def step(mesh, state, tokens, targets):
    graph, leaves = nnx.split(nnx.eval_shape(lambda: Training(0)))
    nnx.replace_by_pure_dict(leaves, state)
    training = nnx.merge(graph, leaves)

    def loss_fn(model):
        return jnp.sum(optax.softmax_cross_entropy_with_integer_labels(model(tokens), targets))

    loss, grads = nnx.value_and_grad(loss_fn)(training.model)
    training.optimizer.update(training.model, grads)
    new = nnx.to_pure_dict(nnx.state(training))
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    model = jax.lax.with_sharding_constraint(new["model"], places)
    optimizer = jax.lax.with_sharding_constraint(new["optimizer"], NamedSharding(mesh, P()))
    return {"model": model, "optimizer": optimizer}, loss
