"""The step keeps large arrays that it does not need, such as a gradient for every row. Only clipping row by row needs
those: here you clip the mean gradient over all rows, which one backward pass gives."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, LIMIT = 0.5, 1.0
LAYER = {"kernel": P("fsdp"), "bias": P()}
SPECS = {"params": {"hidden": LAYER, "out": LAYER}}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        def gather(path, leaf):
            return jax.lax.all_gather(leaf, "fsdp", tiled=True) if path[-1].key == "kernel" else leaf

        def mean(path, grad):
            if path[-1].key == "kernel":
                return jax.lax.psum_scatter(grad, "fsdp", tiled=True) / jax.lax.axis_size("fsdp")
            return jax.lax.pmean(grad, "fsdp")

        whole = jax.tree.map_with_path(gather, state["params"])
        losses, grads = jax.lax.map(lambda row: jax.value_and_grad(loss_fn)(whole, *row), (x, y))
        loss, grads = jnp.mean(losses), jax.tree.map(lambda g: jnp.mean(g, 0), grads)
        grads = jax.tree.map_with_path(mean, grads)
        kernels = optax.global_norm([layer["kernel"] for layer in grads.values()])
        biases = optax.global_norm([layer["bias"] for layer in grads.values()])
        norm = jnp.sqrt(jax.lax.psum(kernels**2, "fsdp") + biases**2)
        factor = jnp.where(norm > LIMIT, LIMIT / norm, 1.0)
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
