"""On Explicit axes: the type of each array says how its rows are split, and the sums over rows follow from it."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    embed, hidden, out = nnx.Embed(64, 32, rngs=rngs), nnx.Linear(32, 48, rngs=rngs), nnx.Linear(48, 64, rngs=rngs)
    layers = {"embed": embed, "hidden": hidden, "out": out}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    explicit = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,))
    return jax.device_put({"params": params}, NamedSharding(explicit, P()))


def nll(params, tokens, targets):
    vectors = params["embed"]["embedding"].at[tokens].get(out_sharding=P("data"))
    hidden = jnp.tanh(vectors @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    scores = jax.nn.log_softmax(hidden @ params["out"]["kernel"] + params["out"]["bias"])
    return -jnp.sum(scores * (targets[..., None] == jnp.arange(64)), axis=-1)


def step(mesh, state, tokens, targets, mask):
    count = jnp.sum(mask)

    def part(params, x, y, m):
        return jnp.sum(nll(params, x, y) * m) / count

    def add(total, batch):
        return jax.tree.map(jnp.add, total, jax.value_and_grad(part)(state["params"], *batch)), None

    zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, state["params"])
    (loss, grads), _ = jax.lax.scan(add, zero, (tokens, targets, mask))
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
