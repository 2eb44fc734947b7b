"""Under shard_map, each device draws only its own part: number i of a draw depends on the key and on i, so any
device can compute it.
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.extend.random import threefry2x32_p
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

VOCAB, WIDTH, HEADS, HEAD, HIDDEN = 250, 64, 4, 16, 256
LEARNING_RATE, EPSILON = 1e-2, 1e-2


def shardings(mesh, tree):
    def of(leaf):
        fits = [dim for dim, size in enumerate(leaf.shape) if size % mesh.size == 0]
        return NamedSharding(mesh, P(*[None] * fits[0], "fsdp") if fits else P())

    return jax.tree.map(of, tree)


def numbers(key, index):
    """The numbers of `jax.random.normal(key, ...)` at these places of its flat result."""
    words = jnp.asarray(jax.random.key_data(key))
    first, second = threefry2x32_p.bind(words[0], words[1], jnp.zeros_like(index), index)
    fraction = jax.lax.bitcast_convert_type(((first ^ second) >> 9) | jnp.uint32(0x3F800000), jnp.float32) - 1
    least = jnp.nextafter(jnp.float32(-1), jnp.float32(0))
    return 2**0.5 * jax.lax.erf_inv(jnp.maximum(least, fraction * (1 - least) + least))


def part(key, shape, parts):
    """This device's part of `jax.random.normal(key, shape)`."""
    dim = 0 if shape[0] % parts == 0 else 1
    mine = [size // parts if number == dim else size for number, size in enumerate(shape)]
    rows, columns = (jax.lax.broadcasted_iota(jnp.uint32, mine, number) for number in (0, 1))
    start = jax.lax.axis_index("fsdp").astype(jnp.uint32) * mine[dim]
    rows, columns = (rows + start, columns) if dim == 0 else (rows, columns + start)
    return numbers(key, rows * shape[1] + columns)


def create(parts, seed):
    keys = jax.random.split(jax.random.key(seed), 5)
    params = {
        "embed": part(keys[0], (VOCAB, WIDTH), parts) / 8,
        "qkv": part(keys[1], (3 * WIDTH, WIDTH), parts) / 8,
        "out": part(keys[2], (WIDTH, WIDTH), parts) / 8,
        "up": part(keys[3], (WIDTH, HIDDEN), parts) / 8,
        "down": part(keys[4], (HIDDEN, WIDTH), parts) / 16,
    }
    mu, nu = jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": mu, "nu": nu, "count": jnp.zeros((), jnp.int32)}


def init(mesh, seed):
    specs = {name: P("fsdp") for name in ("qkv", "out", "up", "down")} | {"embed": P(None, "fsdp")}
    places = {"params": specs, "mu": specs, "nu": specs, "count": P()}
    return jax.shard_map(partial(create, mesh.size), mesh=mesh, in_specs=P(), out_specs=places)(seed)


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
