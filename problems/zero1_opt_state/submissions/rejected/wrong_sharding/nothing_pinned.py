"""Without a constraint, the new parameters come out split like the moments, so the second step starts from a different
sharding."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}
SPECS = {"params": P(), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
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


def adam_step(state, grads):
    """Adam on whatever shard of the state the gradients belong to."""
    moments = optax.ScaleByAdamState(state["count"], state["mu"], state["nu"])
    directions, moments = ADAM.update(grads, moments)
    params = jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    return adam_step(state, grads), loss
