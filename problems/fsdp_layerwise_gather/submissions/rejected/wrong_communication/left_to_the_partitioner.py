"""Nothing says that the weights travel, so the compiler also moves activations between the devices. In the body,
constrain the weights of the layer to be whole, or gather them in shard_map."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS, WIDTH, HIDDEN = 6, 64, 192


class Block(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)


def init(mesh, seed):
    stack = nnx.split_rngs(splits=LAYERS)(nnx.vmap(Block))(nnx.Rngs(seed))
    params = nnx.to_pure_dict(nnx.state(stack, nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P(None, "fsdp")))


def layer(x, weights):
    return x + nnx.tanh(x @ weights["up"]["kernel"]) @ weights["down"]["kernel"]


def step(mesh, state, x, y):
    def place(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def gathered_layer(x, shards):
        return place(layer(x, shards), "fsdp"), None

    def mean_loss(params):
        out, _ = jax.lax.scan(gathered_layer, x, params)
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(mean_loss)(state["params"])
    params = jax.tree.map(lambda p, g: place(p - 0.2 * g, None, "fsdp"), state["params"], grads)
    return {"params": params}, loss
