"""The moments written out, gradients averaged from a vmap over rows."""

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


def loss_fn(params, x, y):
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def pin(mesh, state):
    return {
        name: jax.lax.with_sharding_constraint(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }


def step(mesh, state, x, y):
    losses, grads = jax.vmap(jax.value_and_grad(loss_fn), in_axes=(None, 0, 0))(state["params"], x, y)
    grads = jax.tree.map(lambda g: jnp.mean(g, axis=0), grads)
    count = state["count"] + 1
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["nu"], grads)
    rate = 1e-2 / (1 - 0.9**count)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-4), state["params"], mu, nu
    )
    return pin(mesh, {"params": params, "mu": mu, "nu": nu, "count": count}), jnp.mean(losses)
