from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

VOCAB, WIDTH, HEADS, HEAD, HIDDEN = 250, 64, 4, 16, 256
LEARNING_RATE, EPSILON = 1e-2, 1e-2


def shardings(mesh: Mesh, tree: Any) -> Any:
    """The sharding of each leaf, in a tree like `tree`. This function is finished.

    A leaf is split along its first dimension that the number of devices divides. Without one, it is whole.
    """

    def of(leaf: Any) -> NamedSharding:
        fits = [dim for dim, size in enumerate(leaf.shape) if size % mesh.size == 0]
        return NamedSharding(mesh, P(*[None] * fits[0], "fsdp") if fits else P())

    return jax.tree.map(of, tree)


def create(seed: jax.Array) -> State:
    """The whole state, as for one device. You may change how it is computed, as long as its numbers stay the same."""
    keys = jax.random.split(jax.random.key(seed), 5)
    heads = jax.random.normal(keys[1], (3, HEADS, HEAD, WIDTH))  # queries, keys and values of each head
    params = {
        "embed": jax.random.normal(keys[0], (VOCAB, WIDTH)) / 8,
        "qkv": heads.reshape(3 * WIDTH, WIDTH) / 8,
        "out": jax.random.normal(keys[2], (WIDTH, WIDTH)) / 8,
        "up": jax.random.normal(keys[3], (WIDTH, HIDDEN)) / 8,
        "down": jax.random.normal(keys[4], (HIDDEN, WIDTH)) / 16,
    }
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}


def init(mesh: Mesh, seed: jax.Array) -> State:
    """Create the state in shards: no device may hold a whole matrix, not even while this function runs.

    Args:
      mesh: one axis, "fsdp", of 8 or of 4 devices.
      seed: a traced scalar, uint32. The grader compiles this function as one program of the seed.
    Returns:
      The leaves that `create` returns, with the same values, placed as `shardings` says.
    """
    state = create(seed)
    return jax.device_put(state, shardings(mesh, state))  # Replace this: every leaf is whole.


def loss_of(params: State, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """The cross entropy of one transformer block, summed over all tokens. This function is finished."""
    h = params["embed"][tokens]
    q, k, v = jnp.moveaxis((h @ params["qkv"].T).reshape(*tokens.shape, 3, HEADS, HEAD), 2, 0)
    h = h + jax.nn.dot_product_attention(q, k, v).reshape(h.shape) @ params["out"]
    h = h + jax.nn.gelu(h @ params["up"]) @ params["down"]
    losses = optax.softmax_cross_entropy_with_integer_labels(h @ params["embed"].T, targets)
    return jnp.sum(losses)


def step(mesh: Mesh, state: State, tokens: jax.Array, targets: jax.Array) -> tuple[State, jax.Array]:
    """Take one Adam step. The new state stays where the old one was. This function is finished."""
    loss, grads = jax.value_and_grad(loss_of)(state["params"], tokens, targets)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    new = {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}
    return jax.lax.with_sharding_constraint(new, shardings(mesh, new)), loss
