"""The model has metadata. The moments are made by optax alone, and optax.tree.map_params gives each the spec of its
parameter.
"""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HIDDEN = 240, 48, 192
ADAM = optax.adam(1e-2, eps=1e-2)


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


def places_of(mesh):
    params = nnx.state(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))
    specs = nnx.to_pure_dict(nnx.get_partition_spec(params))
    moments = specs | {"embed": {"embedding": P("model", "data")}}
    opt_state = jax.eval_shape(ADAM.init, nnx.to_pure_dict(params))
    opt_specs = optax.tree.map_params(
        ADAM, lambda _, spec: spec, opt_state, moments, transform_non_params=lambda _: P()
    )
    return jax.tree.map(lambda spec: NamedSharding(mesh, spec), (specs, opt_specs))


def state_of(params, opt_state, count):
    adam = opt_state[0]
    first = {"count": adam.count, "mu": adam.mu, "nu": adam.nu}
    return {"model": params, "optimizer": {"opt_state": {0: first}, "step": count}}


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(Model(nnx.Rngs(jax.random.key(seed)))))
    opt_state = jax.lax.with_sharding_constraint(ADAM.init(params), places_of(mesh)[1])
    return state_of(params, opt_state, jnp.zeros((), jnp.uint32))


def step(mesh, state, tokens, targets):
    graph = nnx.graphdef(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))

    def loss_fn(params):
        return jnp.sum(optax.softmax_cross_entropy_with_integer_labels(nnx.merge(graph, params)(tokens), targets))

    loss, grads = jax.value_and_grad(loss_fn)(state["model"])
    old = optax.ScaleByAdamState(**state["optimizer"]["opt_state"][0])
    updates, opt_state = ADAM.update(grads, (old, *ADAM.init(grads)[1:]))
    new = optax.apply_updates(state["model"], updates), opt_state
    new = jax.lax.with_sharding_constraint(new, places_of(mesh))
    return state_of(*new, state["optimizer"]["step"] + 1), loss
