"""No AD: backpropagation is written out, and one psum adds up its gradients."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE = 0.05


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def sgd(params, grads):
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, grads)


def step(mesh, state, x, y):
    @jax.shard_map(mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
    def local_step(params, x, y):
        names = ("dense1", "dense2", "dense3")
        inputs = [x]
        for name in names:
            z = inputs[-1] @ params[name]["kernel"] + params[name]["bias"]
            inputs.append(z if name == "dense3" else jnp.maximum(z, 0))
        error = inputs.pop() - y
        size = error.size * mesh.size
        delta, grads = 2 * error / size, {}
        for name, h in zip(reversed(names), reversed(inputs), strict=True):
            grads[name] = {"kernel": h.T @ delta, "bias": delta.sum(0)}
            delta = jnp.where(h > 0, delta @ params[name]["kernel"].T, 0)
        loss, grads = jax.lax.psum((jnp.sum(error**2) / size, grads), "data")
        return sgd(params, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
