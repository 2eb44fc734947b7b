"""The initialisers carry the specs (nnx.with_partitioning), so that flax places each weight where it is born."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def names_of(shape, devices):
    names = [None] * len(shape)
    fits = sorted((-size, dim) for dim, size in enumerate(shape) if size % devices == 0)
    if fits:
        names[fits[0][1]] = "fsdp"
    return tuple(names)


def fsdp_step_sharded(mesh, seed, x, y, lr):
    d_in, d_out, devices = x.shape[-1], y.shape[-1], mesh.shape["fsdp"]
    names = {"kernel": names_of((d_in, d_out), devices), "bias": names_of((d_out,), devices)}
    model = nnx.Linear(
        d_in,
        d_out,
        kernel_init=nnx.with_partitioning(nnx.initializers.lecun_normal(), names["kernel"]),
        bias_init=nnx.with_partitioning(nnx.initializers.zeros_init(), names["bias"]),
        rngs=nnx.Rngs(seed),
    )
    graph, params = nnx.split(model)

    def loss_fn(params):
        return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    new = nnx.to_pure_dict(jax.tree.map(lambda leaf, grad: leaf - lr * grad, params, grads))
    return loss, {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, P(*names[name]))) for name, leaf in new.items()
    }
