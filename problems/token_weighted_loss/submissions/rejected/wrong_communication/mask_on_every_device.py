"""The mask of the whole batch is summed into every device, to count its tokens. Let each device count its own, so that
only a single number has to be summed."""

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
        own = jax.tree.map(lambda p: jax.lax.pcast(p, "data", to="varying"), params)

        def total(params, batch):
            x, y, m = batch
            return jnp.sum(nll(params, x, y) * m)

        def add(carry, batch):
            return jax.tree.map(jnp.add, carry, jax.value_and_grad(total)(own, batch)), None

        zero = jax.lax.pcast(jnp.zeros(()), "data", to="varying"), jax.tree.map(jnp.zeros_like, own)
        sums, _ = jax.lax.scan(add, zero, (tokens, targets, mask))
        own_rows = mask.shape[1]
        everything = jnp.zeros((len(mask), own_rows * jax.lax.axis_size("data"), mask.shape[2]))
        start = jax.lax.axis_index("data") * own_rows
        whole = jax.lax.psum(jax.lax.dynamic_update_slice(everything, mask, (0, start, 0)), "data")
        count = jnp.sum(whole)
        return jax.tree.map(lambda each: jax.lax.psum(each, "data") / count, sums)

    loss, grads = local(state["params"], tokens, targets, mask)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
