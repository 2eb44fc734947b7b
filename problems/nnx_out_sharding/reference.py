"""The sharding of each variable is metadata of the model, and nnx.Optimizer takes it over for the moments."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh

State = dict[str, Any]

VOCAB, WIDTH, HIDDEN = 240, 48, 192


class Model(nnx.Module):
    """Predicts the next token. Each variable says where it lives."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        # The moments of the largest leaf are split over data as well.
        places = {"out_sharding": ("model", None), "optimizer_sharding": ("model", "data")}
        self.embed = nnx.Embed(VOCAB, WIDTH, embedding_metadata=places, rngs=rngs)
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        columns, rows = {"out_sharding": (None, "model")}, {"out_sharding": ("model", None)}
        biases = {"out_sharding": ("model",)}
        self.up = nnx.Linear(WIDTH, HIDDEN, kernel_metadata=columns, bias_metadata=biases, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, kernel_metadata=rows, rngs=rngs)
        head = nnx.initializers.lecun_normal()(rngs.params(), (WIDTH, VOCAB))
        self.head = nnx.Param(head, out_sharding=(None, "model"))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        h = self.embed(tokens)
        return (h + self.down(nnx.gelu(self.up(self.norm(h))))) @ self.head[...]


class Training(nnx.Module):
    """The model and its optimizer."""

    def __init__(self, seed: jax.Array | int) -> None:
        self.model = Model(nnx.Rngs(jax.random.key(seed)))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2, eps=1e-2), wrt=nnx.Param)


def init(mesh: Mesh, seed: jax.Array) -> State:
    """Create the model and the optimizer. Each variable is placed when it is created."""
    return nnx.to_pure_dict(nnx.state(Training(seed)))


def step(mesh: Mesh, state: State, tokens: jax.Array, targets: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step. The new state lives where the metadata says."""
    graph, leaves = nnx.split(nnx.eval_shape(lambda: Training(0)))
    nnx.replace_by_pure_dict(leaves, state)
    training = nnx.merge(graph, leaves)

    def loss_fn(model: Model) -> jax.Array:
        return jnp.sum(optax.softmax_cross_entropy_with_integer_labels(model(tokens), targets))

    loss, grads = nnx.value_and_grad(loss_fn)(training.model)
    training.optimizer.update(training.model, grads)
    new = nnx.state(training)
    new = jax.lax.with_sharding_constraint(new, nnx.get_named_sharding(new, mesh))
    return nnx.to_pure_dict(new), loss
