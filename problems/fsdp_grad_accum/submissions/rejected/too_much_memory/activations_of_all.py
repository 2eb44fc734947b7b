"""The loop is inside the function that is differentiated, so it keeps the activations of every microbatch until the
backward pass. Differentiate each microbatch in the loop, or wrap its body in jax.checkpoint."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def mean_loss(params, x, y):
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    rows = P(None, "fsdp")

    def loss_of_shards(shards, x, y):
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)

        def add(total, batch):
            return total + mean_loss(whole, *batch), None

        total, _ = jax.lax.scan(add, jax.lax.pcast(jnp.zeros(()), "fsdp", to="varying"), (x, y))
        return jax.lax.pmean(total / len(x), "fsdp")

    @jax.shard_map(mesh=mesh, in_specs=(P("fsdp"), rows, rows), out_specs=(P("fsdp"), P()))
    def local_step(shards, x, y):
        loss, grads = jax.value_and_grad(loss_of_shards)(shards, x, y)
        return jax.tree.map(lambda p, g: p - 0.5 * g, shards, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
