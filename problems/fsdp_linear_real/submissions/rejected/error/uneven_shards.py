"""You split a dimension whose length 8 devices do not divide. shard_map refuses that: such a leaf stays whole."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import PartitionSpec as P


def spec_of(leaf, devices):
    fits = range(leaf.ndim)
    return P(*[None] * max(fits, key=lambda dim: leaf.shape[dim]), "fsdp") if fits else P()


def gather(shard, spec):
    for dim, axis in enumerate(spec):
        shard = shard if axis is None else jax.lax.all_gather(shard, axis, axis=dim, tiled=True)
    return shard


def reduce_mean(grad, spec):
    for dim, axis in enumerate(spec):
        if axis is not None:
            return jax.lax.psum_scatter(grad, axis, scatter_dimension=dim, tiled=True) / jax.lax.axis_size(axis)
    return jax.lax.pmean(grad, "fsdp")


def loss_fn(params, x, y):
    return jnp.mean((x @ params["kernel"] + params["bias"] - y) ** 2)


def fsdp_step_sharded(mesh, seed, x, y, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    params = {"kernel": model.kernel[...], "bias": model.bias[...]}
    specs = {name: spec_of(leaf, mesh.shape["fsdp"]) for name, leaf in params.items()}
    rows = P("fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(specs, rows, rows), out_specs=(P(), specs), check_vma=False)
    def step(shards, x, y):
        whole = {name: gather(shard, specs[name]) for name, shard in shards.items()}
        loss, grads = jax.value_and_grad(loss_fn)(whole, x, y)
        grads = {name: reduce_mean(grad, specs[name]) for name, grad in grads.items()}
        return jax.lax.pmean(loss, "fsdp"), jax.tree.map(lambda leaf, grad: leaf - lr * grad, shards, grads)

    return step(params, x, y)
