"""The momentum is a moving average of optax, and the collectives are not tiled."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    state = {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params)}
    return jax.device_put(state, NamedSharding(mesh, P("fsdp")))


def mean_loss(params, x, y):
    for name in LAYERS:
        layer = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params[name])
        x = x @ layer["kernel"] + layer["bias"]
        x = x if name == "dense3" else nnx.relu(x)
    return jnp.mean((x - y) ** 2)


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(state, x, y):
        def gather(p):
            return jax.lax.all_gather(p.astype(jnp.bfloat16), "fsdp").reshape(-1, *p.shape[1:])

        whole = jax.tree.map(gather, state["params"])
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        devices = jax.lax.axis_size("fsdp")

        def reduce(g):
            parts = g.astype(jnp.float32).reshape(devices, -1, *g.shape[1:])
            return jax.lax.psum_scatter(parts, "fsdp") / devices

        grads = jax.tree.map(reduce, grads)
        average = optax.ema(0.9, debias=False)
        old = optax.EmaState(count=jnp.zeros((), jnp.int32), ema=state["momentum"])
        updates, new = average.update(grads, old)
        params = jax.tree.map(lambda p, u: p - 0.5 * u, state["params"], updates)
        return {"params": params, "momentum": new.ema}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
