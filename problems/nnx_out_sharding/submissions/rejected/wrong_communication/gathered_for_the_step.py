"""The state is gathered at the beginning of each step and placed again at its end. The places hold between steps, but the whole state crosses the mesh in each."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HIDDEN = 240, 48, 192


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


def places_of(mesh, state):
    """A sharding for each leaf, by its path. The path also says which leaves are moments."""

    def spec(path, leaf):
        names = [str(getattr(key, "key", key)) for key in path]
        moment = "mu" in names or "nu" in names
        match names[-2:]:
            case [_, "embedding"]:
                return P("model", "data" if moment else None)
            case ["up", "bias"] | ["down", "kernel"]:
                return P("model")
            case ["up", "kernel"] | [_, "head"]:
                return P(None, "model")
        return P()

    return jax.tree_util.tree_map_with_path(lambda *leaf: NamedSharding(mesh, spec(*leaf)), state)


def create(seed):
    return nnx.to_pure_dict(nnx.state(Training(seed)))


def init(mesh, seed):
    return jax.jit(create, out_shardings=places_of(mesh, jax.eval_shape(create, seed)))(seed)


def step(mesh, state, tokens, targets):
    graph, leaves = nnx.split(nnx.eval_shape(lambda: Training(0)))
    state = jax.lax.with_sharding_constraint(state, NamedSharding(mesh, P()))
    nnx.replace_by_pure_dict(leaves, state)
    training = nnx.merge(graph, leaves)

    def loss_fn(model):
        return jnp.sum(optax.softmax_cross_entropy_with_integer_labels(model(tokens), targets))

    loss, grads = nnx.value_and_grad(loss_fn)(training.model)
    training.optimizer.update(training.model, grads)
    new = nnx.to_pure_dict(nnx.state(training))
    return jax.lax.with_sharding_constraint(new, places_of(mesh, new)), loss
