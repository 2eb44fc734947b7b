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
    def objective(params):
        def micro(sums, batch):
            x, y, m = batch
            per_token = jax.checkpoint(nll)(params, x, y)
            numerator, denominator = sums
            return (numerator + jnp.sum(jnp.where(m > 0, per_token, 0.0)), denominator + m.sum()), None

        (numerator, denominator), _ = jax.lax.scan(micro, (jnp.float32(0), jnp.float32(0)), (tokens, targets, mask))
        return numerator / denominator

    loss, slope = jax.value_and_grad(objective)(state["params"])
    updates = jax.tree.map(lambda s: -0.5 * s, slope)
    return {"params": optax.apply_updates(state["params"], updates)}, loss
