"""The partitioner chose what to move, and it moved rows and activations. One possible cause: an Auto axis, on which
reshard to P() does nothing."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

SIZES = {"up": (40, 192), "down": (192, 24)}
SPECS = {
    "up": {"kernel": P(None, "fsdp"), "bias": P("fsdp")},
    "down": {"kernel": P("fsdp", None), "bias": P("fsdp")},
}


def init(mesh, seed):
    mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Auto,))
    params = {}
    for (name, (rows, columns)), key in zip(SIZES.items(), jax.random.split(jax.random.key(seed)), strict=True):
        kernel = jax.random.normal(key, (rows, columns)) / jnp.sqrt(rows)
        params[name] = {"kernel": kernel, "bias": jnp.zeros(columns)}
    params = jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), params, SPECS)
    return {"params": params, "velocity": jax.tree.map(jnp.zeros_like, params)}


def step(mesh, state, x, y):
    def loss_of(params):
        whole = jax.tree.map(lambda leaf: reshard(leaf, P()), params)
        hidden = jax.nn.gelu(x @ whole["up"]["kernel"] + whole["up"]["bias"])
        out = hidden @ whole["down"]["kernel"] + whole["down"]["bias"]
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(state["params"])
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - 0.1 * v, state["params"], velocity)
    return {"params": params, "velocity": velocity}, loss
