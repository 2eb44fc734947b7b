"""Everything by hand in shard_map: gather, differentiate the whole weights, psum_scatter or psum, divide, update."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import PartitionSpec as P


def spec_of(shape, devices):
    best = None
    for dim, size in enumerate(shape):
        if size % devices == 0 and (best is None or size > shape[best]):
            best = dim
    return P() if best is None else P(*(["fsdp" if dim == best else None for dim in range(len(shape))]))


def gather(shard, spec):
    for dim, axis in enumerate(spec):
        shard = shard if axis is None else jax.lax.all_gather(shard, axis, axis=dim, tiled=True)
    return shard


def reduce_mean(grad, spec):
    for dim, axis in enumerate(spec):
        if axis is not None:
            return jax.lax.psum_scatter(grad, axis, scatter_dimension=dim, tiled=True) / jax.lax.axis_size(axis)
    return jax.lax.pmean(grad, "fsdp")


def fsdp_step_sharded(mesh, seed, x, y, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    params = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    specs = {name: spec_of(leaf.shape, mesh.shape["fsdp"]) for name, leaf in params.items()}
    tx = optax.sgd(lr)

    def loss_fn(whole, x, y):
        return jnp.mean((x @ whole["kernel"] + whole["bias"] - y) ** 2)

    @partial(
        jax.shard_map, mesh=mesh, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(P(), specs), check_vma=False
    )
    def step(shards, x, y):
        whole = {name: gather(shard, specs[name]) for name, shard in shards.items()}
        loss, grads = jax.value_and_grad(loss_fn)(whole, x, y)
        grads = {name: reduce_mean(grad, specs[name]) for name, grad in grads.items()}
        updates, _ = tx.update(grads, tx.init(shards), shards)
        return jax.lax.pmean(loss, "fsdp"), optax.apply_updates(shards, updates)

    return step(params, x, y)
