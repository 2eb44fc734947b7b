from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

VOCAB, WIDTH, HIDDEN = 240, 48, 192
# Where the parameters belong. `norm/scale` and `down/bias` are whole. `init` applies this; the model does not know it.
SPECS = {
    "embed": {"embedding": P("model", None)},
    "norm": {"scale": P()},
    "up": {"kernel": P(None, "model"), "bias": P("model")},
    "down": {"kernel": P("model", None), "bias": P()},
    "head": P(None, "model"),
}


class Model(nnx.Module):
    """Predicts the next token. Add the sharding of each variable as metadata, and change nothing else."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(VOCAB, WIDTH, rngs=rngs)
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, rngs=rngs)
        self.head = nnx.Param(nnx.initializers.lecun_normal()(rngs.params(), (WIDTH, VOCAB)))

    def __call__(self, tokens: jax.Array) -> jax.Array:
        h = self.embed(tokens)
        return (h + self.down(nnx.gelu(self.up(self.norm(h))))) @ self.head[...]


class Training(nnx.Module):
    """The model and its optimizer. This class is finished."""

    def __init__(self, seed: jax.Array | int) -> None:
        self.model = Model(nnx.Rngs(jax.random.key(seed)))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2, eps=1e-2), wrt=nnx.Param)


def init(mesh: Mesh, seed: jax.Array) -> State:
    """Create the model and the optimizer in shards. The grader calls this in `jax.set_mesh(mesh)`, as one program.

    Args:
      mesh: axes "data" and "model", of 2 and 4, 2 and 2, or 3 and 2 devices.
      seed: a traced scalar, uint32.
    Returns:
      The leaves of `Training(seed)`, placed as the statement says.
    """
    training = Training(seed)
    # This places the parameters after the optimizer has been created, so its moments stay whole. Remove it, and let
    # the variables of `Model` say where they live.
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    nnx.update(training.model, jax.lax.with_sharding_constraint(nnx.to_pure_dict(nnx.state(training.model)), places))
    return nnx.to_pure_dict(nnx.state(training))


def step(mesh: Mesh, state: State, tokens: jax.Array, targets: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step. The new state lives where the metadata says. This function is finished."""
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
