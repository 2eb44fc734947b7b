"""The state lives on a mesh with Explicit axes, and the update is outside shard_map."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    explicit = jax.sharding.Mesh(mesh.devices, mesh.axis_names, axis_types=(jax.sharding.AxisType.Explicit,))
    return jax.device_put({"params": params}, NamedSharding(explicit, P("fsdp")))


def mean_loss(params, x, y):
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    mesh = jax.sharding.get_abstract_mesh()
    rows = P(None, "fsdp")

    @jax.shard_map(mesh=mesh, in_specs=(P("fsdp"), rows, rows), out_specs=(P("fsdp"), P()))
    def mean_gradient(shards, x, y):
        whole = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), shards)

        def add(total, batch):
            return jax.tree.map(jnp.add, total, jax.value_and_grad(mean_loss)(whole, *batch)), None

        zero = jax.lax.pcast(jnp.zeros(()), "fsdp", to="varying"), jax.tree.map(jnp.zeros_like, whole)
        (loss, grads), _ = jax.lax.scan(add, zero, (x, y))
        parts = len(x) * mesh.shape["fsdp"]
        grads = jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", tiled=True) / parts, grads)
        return grads, jax.lax.psum(loss, "fsdp") / parts

    grads, loss = mean_gradient(state["params"], x, y)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
