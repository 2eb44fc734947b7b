"""A jitted step whose batch really lies on a mesh of devices wherever its rows divide evenly."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return jnp.stack([loss, loss_fn(model, x, y)])


def fsdp_step(seed, x, y, num_shards, lr):
    mesh = Mesh(jax.devices()[: int(num_shards)], ("fsdp",))
    spec = P("fsdp") if x.shape[0] % mesh.size == 0 else P()
    x, y = jax.device_put((x, y), NamedSharding(mesh, spec))
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    optimizer = nnx.Optimizer(model, optax.sgd(float(lr)), wrt=nnx.Param)
    for part in (model, optimizer):
        nnx.update(part, jax.device_put(nnx.state(part), NamedSharding(mesh, P())))
    return train_step(model, optimizer, x, y)
