"""Each microbatch sums its gradients over the devices; the sums are stacked, and added up after the loop."""

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

    @jax.shard_map(mesh=mesh, in_specs=(P(), rows, rows, rows), out_specs=(P(), P()), check_vma=False)
    def local(params, tokens, targets, mask):
        count = jax.lax.psum(jnp.sum(mask), "data")

        def part(params, x, y, m):
            return jnp.sum(nll(params, x, y) * m) / count

        def of_batch(batch):
            return jax.lax.psum(jax.value_and_grad(part)(params, *batch), "data")

        return jax.tree.map(lambda each: each.sum(axis=0), jax.lax.map(of_batch, (tokens, targets, mask)))

    loss, grads = local(state["params"], tokens, targets, mask)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
