"""Every feature of the batch is summed over the devices, to check that all of them are finite. Let each device check its own rows, so that only a single number has to be summed."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4
WIDTHS, RANK, SCALE = (40, 136, 88, 24), 16, 2.0
LAYERS = ("dense1", "dense2", "dense3")
SPECS = {"base": P("fsdp"), "adapters": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


def build(seed):
    rng = np.random.default_rng(seed)
    base, adapters = {}, {}
    for name, inputs, outputs in zip(LAYERS, WIDTHS[:-1], WIDTHS[1:]):
        kernel = rng.standard_normal((inputs, outputs), np.float32) / np.float32(inputs**0.5)
        base[name] = {"kernel": kernel, "bias": np.float32(0.1) * rng.standard_normal(outputs, np.float32)}
        a = rng.standard_normal((inputs, RANK), np.float32) / np.float32(inputs**0.5)
        adapters[name] = {"a": a, "b": np.zeros((RANK, outputs), np.float32)}
    return base, adapters


def init(mesh, seed):
    base, adapters = build(seed)
    zeros = jax.tree.map(np.zeros_like, adapters)
    state = {"base": base, "adapters": adapters, "mu": zeros, "nu": zeros, "count": np.zeros((), np.int32)}
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def forward(base, adapters, x):
    for name in LAYERS:
        low = SCALE * (x @ adapters[name]["a"]) @ adapters[name]["b"]
        x = x @ base[name]["kernel"] + base[name]["bias"] + low
        x = x if name == LAYERS[-1] else jax.nn.relu(x)
    return x


def adam_update(state, grads):
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    adapters = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["adapters"], directions)
    return state | {"adapters": adapters, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def gather(shards):
    return jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)


def step(mesh, state, x, y):
    def loss_fn(adapters, base, x, y):
        return jnp.mean((forward(base, adapters, x) - y) ** 2)

    def reduce(grad):
        return jax.lax.psum_scatter(grad, "fsdp", scatter_dimension=0, tiled=True) / jax.lax.axis_size("fsdp")

    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        finite = jnp.isfinite(jax.lax.psum(x.sum(axis=0), "fsdp")).all()
        base, adapters = gather(state["base"]), gather(state["adapters"])
        loss, grads = jax.value_and_grad(loss_fn)(adapters, base, x, y)
        return adam_update(state, jax.tree.map(reduce, grads)), jnp.where(finite, jax.lax.pmean(loss, "fsdp"), jnp.nan)

    return local_step(state, x, y)
