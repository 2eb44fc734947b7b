"""Writes the backward pass itself: the gradient of a kernel is a product whose out_sharding is the kernel's own."""

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
    mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,))
    params = {}
    for (name, (rows, columns)), key in zip(SIZES.items(), jax.random.split(jax.random.key(seed)), strict=True):
        kernel = jax.random.normal(key, (rows, columns)) / jnp.sqrt(rows)
        params[name] = {"kernel": kernel, "bias": jnp.zeros(columns)}
    params = jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), params, SPECS)
    return {"params": params, "velocity": jax.tree.map(jnp.zeros_like, params)}


def step(mesh, state, x, y):
    up, down = state["params"]["up"], state["params"]["down"]
    whole = reshard(down["kernel"], P())
    hidden, undo_gelu = jax.vjp(jax.nn.gelu, x @ reshard(up["kernel"], P()) + reshard(up["bias"], P()))
    error = hidden @ whole + reshard(down["bias"], P()) - y
    of_out = 2 * error / error.size
    (of_hidden,) = undo_gelu(of_out @ whole.T)

    def gradient(inputs, of_outputs, spec):
        kernel = jnp.einsum("bi,bo->io", inputs, of_outputs, out_sharding=spec)
        return {"kernel": kernel, "bias": reshard(of_outputs.sum(0), P("fsdp"))}

    grads = {"up": gradient(x, of_hidden, P(None, "fsdp")), "down": gradient(hidden, of_out, P("fsdp", None))}
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - 0.1 * v, state["params"], velocity)
    return {"params": params, "velocity": velocity}, jnp.mean(error**2)
