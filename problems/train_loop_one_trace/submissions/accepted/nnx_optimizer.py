"""One nnx.Optimizer for the whole loop: split before the scan, merged in the step, and its learning rate set from the scan."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


class Network(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(16, 32, rngs=rngs)
        self.dense2 = nnx.Linear(32, 8, rngs=rngs)

    def __call__(self, x):
        return self.dense2(jnp.tanh(self.dense1(x)))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(Network(nnx.Rngs(seed)), nnx.Param))
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def train(mesh, state, xs, ys, lrs):
    model = Network(nnx.Rngs(0))
    nnx.update(model, state["params"])
    sgd = optax.inject_hyperparams(optax.sgd, static_args="momentum")(learning_rate=0.0, momentum=0.9)
    optimizer = nnx.Optimizer(model, sgd, wrt=nnx.Param)
    nnx.update(optimizer.opt_state.inner_state[0].trace, state["momentum"])
    graph, carry = nnx.split((model, optimizer))

    def step(carry, batch):
        model, optimizer = nnx.merge(graph, carry)
        x, y, lr = batch
        loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
        optimizer.opt_state.hyperparams["learning_rate"][...] = lr
        optimizer.update(model, grads)
        return nnx.state((model, optimizer)), loss

    carry, losses = jax.lax.scan(step, carry, (xs, ys, lrs))
    model, optimizer = nnx.merge(graph, carry)
    momentum = nnx.to_pure_dict(nnx.state(optimizer.opt_state.inner_state[0].trace))
    params = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    return {"params": params, "momentum": momentum, "count": state["count"] + len(lrs)}, losses
