"""A jitted function for each leaf, with the sharding of that leaf."""

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HEADS, HEAD, HIDDEN = 250, 64, 4, 16, 256
LEARNING_RATE, EPSILON = 1e-2, 1e-2


def shardings(mesh, tree):
    def of(leaf):
        fits = [dim for dim, size in enumerate(leaf.shape) if size % mesh.size == 0]
        return NamedSharding(mesh, P(*[None] * fits[0], "fsdp") if fits else P())

    return jax.tree.map(of, tree)


SHAPES = {
    "embed": (VOCAB, WIDTH),
    "qkv": (3 * WIDTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "up": (WIDTH, HIDDEN),
    "down": (HIDDEN, WIDTH),
}


def init(mesh, seed):
    def born(make, shape, *args):
        place = shardings(mesh, jax.ShapeDtypeStruct(shape, jnp.float32))
        return jax.jit(make, out_shardings=place)(*args)

    keys = jax.random.split(jax.random.key(seed), 5)
    params, mu, nu = {}, {}, {}
    for key, (name, shape) in zip(keys, SHAPES.items(), strict=True):
        # The standard deviation is one over the root of the width that is summed over.
        scale = 1 / 16 if name == "down" else 1 / 8
        params[name] = born(lambda key, shape=shape, scale=scale: scale * jax.random.normal(key, shape), shape, key)
        mu[name], nu[name] = (born(lambda shape=shape: jnp.zeros(shape), shape) for _ in range(2))
    count = jax.jit(lambda: jnp.zeros((), jnp.int32), out_shardings=NamedSharding(mesh, P()))()
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
