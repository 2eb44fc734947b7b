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
    weights = mask / mask.sum()
    params = state["params"]

    def one(i, carry):
        loss, acc = carry
        value, g = jax.value_and_grad(lambda p: jnp.vdot(nll(p, tokens[i], targets[i]), weights[i]))(params)
        return loss + value, jax.tree.map(lambda a, b: a + b, acc, g)

    start = (0.0, jax.tree.map(lambda leaf: 0 * leaf, params))
    loss, acc = jax.lax.fori_loop(0, tokens.shape[0], one, start)
    new = jax.tree.map(lambda p, g: p - 0.5 * g, params, acc)
    return dict(params=new), loss
