"""optax.inject_hyperparams keeps the learning rate in the optimizer's state, so it can be set in each step."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    layers = {"dense1": nnx.Linear(16, 32, rngs=rngs), "dense2": nnx.Linear(32, 8, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
    return jnp.mean((hidden @ params["dense2"]["kernel"] + params["dense2"]["bias"] - y) ** 2)


def train(mesh, state, xs, ys, lrs):
    optimizer = optax.inject_hyperparams(optax.sgd, static_args="momentum")(learning_rate=0.0, momentum=0.9)
    opt_state = optimizer.init(state["params"])
    trace, *rest = opt_state.inner_state
    opt_state = opt_state._replace(inner_state=(trace._replace(trace=state["momentum"]), *rest))

    def step(carry, batch):
        params, opt_state, count = carry
        x, y, lr = batch
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        opt_state.hyperparams["learning_rate"] = lr
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state, count + 1), loss

    carry, losses = jax.lax.scan(step, (state["params"], opt_state, state["count"]), (xs, ys, lrs))
    params, opt_state, count = carry
    return {"params": params, "momentum": opt_state.inner_state[0].trace, "count": count}, losses
