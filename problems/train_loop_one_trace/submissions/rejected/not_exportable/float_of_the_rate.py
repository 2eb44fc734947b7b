"""float(lr) needs a value, but while the step is traced there are only shapes. If the rate were a Python number, the
step would be traced again for each one."""

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
    losses = []
    for k in range(len(lrs)):
        optimizer = optax.sgd(float(lrs[k]), momentum=0.9)
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], xs[k], ys[k])
        opt_state = (optax.TraceState(state["momentum"]), optax.EmptyState())
        updates, (trace, _) = optimizer.update(grads, opt_state)
        params = optax.apply_updates(state["params"], updates)
        state = {"params": params, "momentum": trace.trace, "count": state["count"] + 1}
        losses.append(loss)
    return state, jnp.stack(losses)
