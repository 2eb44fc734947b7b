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
    old = state["params"]
    share = mask / mask.sum()  # what each token counts

    def body(k, sums):
        total, gradient = sums

        def objective(q):
            return jnp.vdot(nll(q, tokens[k], targets[k]), share[k])

        v, d = jax.value_and_grad(objective)(old)
        gradient = jax.tree.map(lambda x, y: y + x, gradient, d)
        return v + total, gradient

    zeros = jax.tree.map(lambda w: w * 0, old)
    total, gradient = jax.lax.fori_loop(0, tokens.shape[0], body, (0.0, zeros))
    return dict(params=jax.tree.map(lambda w, d: w - d * 0.5, old, gradient)), total
