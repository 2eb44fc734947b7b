"""The sum covers all devices, but the count covers one device, times the number of devices. Devices have different
numbers of tokens: add up their counts with a psum."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    embed, hidden, out = nnx.Embed(64, 32, rngs=rngs), nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 64, rngs=rngs)
    layers = {"embed": embed, "hidden": hidden, "out": out}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def nll(params, tokens, targets):
    hidden = jnp.tanh(params["embed"]["embedding"][tokens] @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = hidden @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets)


def step(mesh, state, tokens, targets, mask):
    rows = P(None, "data")

    @jax.shard_map(mesh=mesh, in_specs=(P(), rows, rows, rows), out_specs=(P(), P()))
    def local(params, tokens, targets, mask):
        count = jax.lax.psum(jnp.sum(mask) * (jax.lax.axis_index("data") == 0), "data") * jax.lax.axis_size("data")

        def part(params, batch):
            x, y, m = batch
            return jax.lax.psum(jnp.sum(nll(params, x, y) * m), "data") / count

        def add(total, batch):
            return jax.tree.map(jnp.add, total, jax.value_and_grad(part)(params, batch)), None

        zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
        return jax.lax.scan(add, zero, (tokens, targets, mask))[0]

    loss, grads = local(state["params"], tokens, targets, mask)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
