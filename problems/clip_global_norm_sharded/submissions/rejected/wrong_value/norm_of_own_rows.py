"""Each device's gradients come from its own rows, and you combined their norms. These gradients differ, so the norm of
their mean is smaller. Average the gradients first, then compute the norm."""

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
        loss, grads = jax.value_and_grad(loss_fn)(whole, x, y)
        norm = jnp.sqrt(jax.lax.pmean(optax.global_norm(grads) ** 2, "fsdp"))
        factor = jnp.minimum(1.0, LIMIT / norm)
        grads = jax.tree.map_with_path(mean, grads)
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
