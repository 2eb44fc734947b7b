"""The rules of fsdp_step nearly word for word; three constraints make the difference."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step_sharded(mesh, seed, x, y, lr):
    devices = mesh.shape["fsdp"]

    def split(leaf):
        longest = max((size for size in leaf.shape if size % devices == 0), default=0)
        dim = leaf.shape.index(longest) if longest else None
        spec = P() if dim is None else P(*[None] * dim, "fsdp")
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    nnx.update(model, jax.tree.map(split, nnx.state(model, nnx.Param)))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    loss = jax.lax.with_sharding_constraint(loss, NamedSharding(mesh, P()))
    return loss, jax.tree.map(split, nnx.state(model, nnx.Param))
