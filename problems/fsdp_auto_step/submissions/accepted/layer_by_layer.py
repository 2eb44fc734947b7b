"""Each layer makes its own weights whole and its output split by rows, inside nnx modules."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
ADAM = optax.scale_by_adam(eps=1e-4)


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    adam = ADAM.init(params)
    state = {"params": params, "mu": adam.mu, "nu": adam.nu, "count": adam.count}
    return {name: jax.device_put(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()}


class Gathered(nnx.Module):
    def __init__(self, mesh, d_in, d_out, rngs):
        self.dense = nnx.Linear(d_in, d_out, rngs=rngs)
        self.rows, self.whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())

    def __call__(self, x):
        kernel = jax.lax.with_sharding_constraint(self.dense.kernel[...], self.whole)
        bias = jax.lax.with_sharding_constraint(self.dense.bias[...], self.whole)
        return jax.lax.with_sharding_constraint(x @ kernel + bias, self.rows)


class MLP(nnx.Module):
    def __init__(self, mesh):
        self.layers = nnx.Dict({name: Gathered(mesh, *size, nnx.Rngs(0)) for name, size in LAYERS.items()})

    def __call__(self, x):
        x = nnx.relu(self.layers["dense1"](x))
        return self.layers["dense3"](nnx.relu(self.layers["dense2"](x)))


def adam_step(state, grads):
    """Adam on whatever shard of the state the gradients belong to."""
    moments = optax.ScaleByAdamState(state["count"], state["mu"], state["nu"])
    directions, moments = ADAM.update(grads, moments)
    params = jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def pin(mesh, state):
    return {
        name: jax.lax.with_sharding_constraint(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }


def step(mesh, state, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(mesh)))

    def loss_fn(params):
        model = nnx.merge(graph, {"layers": {name: {"dense": layer} for name, layer in params.items()}})
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    return pin(mesh, adam_step(state, grads)), loss
