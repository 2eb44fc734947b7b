"""An nnx.Optimizer inside the step: its state is unpacked into the leaves of this problem and packed again."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def build(seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}


def init(mesh, seed):
    return jax.device_put(build(seed), NamedSharding(mesh, P()))


def step(mesh, state, x, y):
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, state["params"])
    optimizer = nnx.Optimizer(model, optax.adam(LEARNING_RATE, eps=EPSILON), wrt=nnx.Param)
    adam_state, rest = optimizer.opt_state
    for moments, name in ((adam_state.mu, "mu"), (adam_state.nu, "nu")):
        nnx.update(moments, state[name])
    adam_state.count.set_value(state["count"])

    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    adam_state = optimizer.opt_state[0]
    new_state = {
        "params": nnx.to_pure_dict(nnx.state(model, nnx.Param)),
        "mu": nnx.to_pure_dict(nnx.state(adam_state.mu)),
        "nu": nnx.to_pure_dict(nnx.state(adam_state.nu)),
        "count": adam_state.count.get_value(),
    }
    return new_state, loss
