"""Gather first, differentiate the local loss with respect to whole weights, then psum_scatter and divide by N."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

B1, B2, EPS, LR = 0.9, 0.999, 1e-4, 1e-2
WIDTHS = (40, 128, 64, 24)
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


def init(mesh: Mesh, seed: int):
    rngs = nnx.Rngs(seed)
    params = {
        f"dense{i + 1}": nnx.to_pure_dict(nnx.state(nnx.Linear(WIDTHS[i], WIDTHS[i + 1], rngs=rngs))) for i in range(3)
    }
    state = {
        "params": params,
        "mu": jax.tree.map(jnp.zeros_like, params),
        "nu": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }
    return {
        name: jax.tree.map(lambda leaf, spec=spec: jax.device_put(leaf, NamedSharding(mesh, spec)), state[name])
        for name, spec in SPECS.items()
    }


def local_loss(params, x, y):
    for name in ("dense1", "dense2"):
        x = jax.nn.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh: Mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        n = jax.lax.axis_size("fsdp")
        whole = jax.tree.map(lambda p: jax.lax.all_gather(p, "fsdp", tiled=True), state["params"])
        loss, grads = jax.value_and_grad(local_loss)(whole, x, y)
        grads = jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", scatter_dimension=0, tiled=True) / n, grads)
        count = state["count"] + 1
        mu = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, state["mu"], grads)
        nu = jax.tree.map(lambda v, g: B2 * v + (1 - B2) * g * g, state["nu"], grads)
        params = jax.tree.map(
            lambda p, m, v: p - LR * (m / (1 - B1**count)) / (jnp.sqrt(v / (1 - B2**count)) + EPS),
            state["params"],
            mu,
            nu,
        )
        return {"params": params, "mu": mu, "nu": nu, "count": count}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
