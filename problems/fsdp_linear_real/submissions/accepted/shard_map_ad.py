"""shard_map over the step: all_gather written out, and JAX turns it into a reduce_scatter when it differentiates."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def split_dim(leaf, devices):
    fits = [dim for dim in range(leaf.ndim) if leaf.shape[dim] % devices == 0]
    return max(fits, key=lambda dim: leaf.shape[dim]) if fits else None


def gather(shard, dim):
    return shard if dim is None else jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True)


def fsdp_step_sharded(mesh, seed, x, y, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    params = {"kernel": model.kernel[...], "bias": model.bias[...]}
    dims = {name: split_dim(leaf, mesh.shape["fsdp"]) for name, leaf in params.items()}
    specs = {name: P() if dim is None else P(*[None] * dim, "fsdp") for name, dim in dims.items()}
    shardings = {name: NamedSharding(mesh, spec) for name, spec in specs.items()}
    params = jax.lax.with_sharding_constraint(params, shardings)

    @partial(jax.shard_map, mesh=mesh, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(P(), specs))
    def step(params, x, y):
        def loss_fn(params):
            kernel, bias = (gather(params[name], dims[name]) for name in ("kernel", "bias"))
            return jax.lax.pmean(jnp.mean((x @ kernel + bias - y) ** 2), "fsdp")

        loss, grads = jax.value_and_grad(loss_fn)(params)
        return loss, jax.tree.map(lambda leaf, grad: leaf - lr * grad, params, grads)

    return step(params, x, y)
