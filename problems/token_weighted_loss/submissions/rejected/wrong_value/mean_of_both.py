"""Each device averages over the tokens that it has in a microbatch, and these means are averaged over devices and microbatches. The
fewer tokens a device has in a microbatch, the more each of them counts."""

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
        def loss_fn(params):
            def add(total, batch):
                x, y, m = batch
                return total + jnp.sum(nll(params, x, y) * m) / jnp.maximum(jnp.sum(m), 1), None

            zero = jax.lax.pcast(jnp.zeros(()), "data", to="varying")
            total, _ = jax.lax.scan(jax.checkpoint(add), zero, (tokens, targets, mask))
            return jax.lax.pmean(total / len(tokens), "data")

        return jax.value_and_grad(loss_fn)(params)

    loss, grads = local(state["params"], tokens, targets, mask)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
