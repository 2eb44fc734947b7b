"""No flax and no optax in the step: matrix products and Adam written out."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh, seed):
    def build():
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings=NamedSharding(mesh, P()))()


def forward(params, x):
    h = x
    for name in ("dense1", "dense2"):
        h = jnp.maximum(h @ params[name]["kernel"] + params[name]["bias"], 0)
    return h @ params["dense3"]["kernel"] + params["dense3"]["bias"]


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(lambda params: jnp.square(forward(params, x) - y).mean())(state["params"])
    count = state["count"] + 1
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["nu"], grads)

    def new(p, m, v):
        m_hat = m / (1 - 0.9 ** count.astype(jnp.float32))
        v_hat = v / (1 - 0.999 ** count.astype(jnp.float32))
        return p - 1e-2 * m_hat / (jnp.sqrt(v_hat) + 1e-4)

    return {"params": jax.tree.map(new, state["params"], mu, nu), "mu": mu, "nu": nu, "count": count}, loss
