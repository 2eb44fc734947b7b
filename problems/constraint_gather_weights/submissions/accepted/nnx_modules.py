"""An nnx module whose layers make their own variables whole when they are called; nnx.value_and_grad differentiates
it.
"""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def places(mesh):
    rows, columns = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P(None, "fsdp"))
    kernels = {"dense1": columns, "dense2": rows, "dense3": rows}
    return {"params": {name: {"kernel": kernel, "bias": rows} for name, kernel in kernels.items()}}


class GatheredLinear(nnx.Linear):
    """A linear layer that stores shards and uses whole weights."""

    def __init__(self, *size, mesh, rngs):
        super().__init__(*size, rngs=rngs)
        self.whole = NamedSharding(mesh, P())

    def __call__(self, x):
        kernel, bias = jax.lax.with_sharding_constraint((self.kernel[...], self.bias[...]), self.whole)
        return x @ kernel + bias


class MLP(nnx.Module):
    def __init__(self, mesh, rngs):
        for name, size in LAYERS.items():
            setattr(self, name, GatheredLinear(*size, mesh=mesh, rngs=rngs))

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(mesh, nnx.Rngs(seed)), nnx.Param))
    return jax.device_put({"params": params}, places(mesh))


def step(mesh, state, x, y):
    model = nnx.merge(nnx.graphdef(nnx.eval_shape(lambda: MLP(mesh, nnx.Rngs(0)))), state["params"])
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], nnx.to_pure_dict(grads))
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
