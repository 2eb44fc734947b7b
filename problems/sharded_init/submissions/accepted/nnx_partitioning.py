"""An nnx module whose initializers carry the names of the axes: nnx.with_partitioning writes them, and
nnx.get_partition_spec reads them.
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HEADS, HEAD, HIDDEN = 250, 64, 4, 16, 256
LEARNING_RATE, EPSILON = 1e-2, 1e-2


def shardings(mesh, tree):
    def of(leaf):
        fits = [dim for dim, size in enumerate(leaf.shape) if size % mesh.size == 0]
        return NamedSharding(mesh, P(*[None] * fits[0], "fsdp") if fits else P())

    return jax.tree.map(of, tree)


class Block(nnx.Module):
    def __init__(self, seed):
        def weight(key, shape, axes, scale):
            return nnx.Param(nnx.with_partitioning(nnx.initializers.normal(scale), axes)(key, shape))

        keys = jax.random.split(jax.random.key(seed), 5)
        rows, columns = ("fsdp", None), (None, "fsdp")
        self.embed = weight(keys[0], (VOCAB, WIDTH), columns, 1 / 8)
        self.qkv = weight(keys[1], (3 * WIDTH, WIDTH), rows, 1 / 8)
        self.out = weight(keys[2], (WIDTH, WIDTH), rows, 1 / 8)
        self.up = weight(keys[3], (WIDTH, HIDDEN), rows, 1 / 8)
        self.down = weight(keys[4], (HIDDEN, WIDTH), rows, 1 / 16)


@partial(jax.jit, static_argnums=0)
def init(mesh, seed):
    params = nnx.state(Block(seed), nnx.Param)
    specs = nnx.to_pure_dict(nnx.get_partition_spec(params))
    params = nnx.to_pure_dict(params)
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs)
    params, mu, nu = (
        jax.lax.with_sharding_constraint(tree, places)
        for tree in (params, *(jax.tree.map(jnp.zeros_like, params) for _ in range(2)))
    )
    count = jax.lax.with_sharding_constraint(jnp.zeros((), jnp.int32), NamedSharding(mesh, P()))
    return {"params": params, "mu": mu, "nu": nu, "count": count}


def loss_of(params, tokens, targets):
    h = params["embed"][tokens]
    q, k, v = jnp.moveaxis((h @ params["qkv"].T).reshape(*tokens.shape, 3, HEADS, HEAD), 2, 0)
    h = h + jax.nn.dot_product_attention(q, k, v).reshape(h.shape) @ params["out"]
    h = h + jax.nn.gelu(h @ params["up"]) @ params["down"]
    losses = optax.softmax_cross_entropy_with_integer_labels(h @ params["embed"].T, targets)
    return jnp.sum(losses)


def step(mesh, state, tokens, targets):
    loss, grads = jax.value_and_grad(loss_of)(state["params"], tokens, targets)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    new = {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}
    return jax.lax.with_sharding_constraint(new, shardings(mesh, new)), loss
