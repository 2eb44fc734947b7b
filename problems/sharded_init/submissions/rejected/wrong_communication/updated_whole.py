"""The step gathers the moments as well, updates everything whole on every device, and splits the result. Adam works element by element, so each device needs its own shards only."""

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


def create(mesh, seed):
    keys = jax.random.split(jax.random.key(seed), 5)
    params = {
        "embed": jax.random.normal(keys[0], (VOCAB, WIDTH)) / 8,
        "qkv": jax.random.normal(keys[1], (3 * WIDTH, WIDTH)) / 8,
        "out": jax.random.normal(keys[2], (WIDTH, WIDTH)) / 8,
        "up": jax.random.normal(keys[3], (WIDTH, HIDDEN)) / 8,
        "down": jax.random.normal(keys[4], (HIDDEN, WIDTH)) / 16,
    }
    mu, nu = (jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), params) for _ in range(2))
    state = {"params": params, "mu": mu, "nu": nu, "count": jnp.zeros((), jnp.int32)}
    return jax.lax.with_sharding_constraint(state, shardings(mesh, state))


def init(mesh, seed):
    return create(mesh, seed)


def loss_of(params, tokens, targets):
    h = params["embed"][tokens]
    q, k, v = jnp.moveaxis((h @ params["qkv"].T).reshape(*tokens.shape, 3, HEADS, HEAD), 2, 0)
    h = h + jax.nn.dot_product_attention(q, k, v).reshape(h.shape) @ params["out"]
    h = h + jax.nn.gelu(h @ params["up"]) @ params["down"]
    losses = optax.softmax_cross_entropy_with_integer_labels(h @ params["embed"].T, targets)
    return jnp.sum(losses)


def step(mesh, state, tokens, targets):
    state = jax.lax.with_sharding_constraint(state, NamedSharding(mesh, P()))
    loss, grads = jax.value_and_grad(loss_of)(state["params"], tokens, targets)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    new = {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}
    return jax.lax.with_sharding_constraint(new, shardings(mesh, new)), loss
