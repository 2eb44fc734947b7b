import jax
import jax.numpy as jnp
from jax.sharding import Mesh


def route(x: jax.Array, router: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return each token's expert, and the weight of its result: the probability that the router gives this expert.

    This function is finished. It looks at one token at a time, so it works on any number of groups.

    Args:
      x: (groups, tokens, features).
      router: (features, experts).
    Returns:
      (groups, tokens), int32, and (groups, tokens), float32.
    """
    probabilities = jax.nn.softmax(x @ router, axis=-1)
    return jnp.argmax(probabilities, axis=-1), jnp.max(probabilities, axis=-1)


def apply_experts(up: jax.Array, down: jax.Array, tokens: jax.Array) -> jax.Array:
    """Apply expert e to tokens[:, e], for every expert of `up` and `down`. This function is finished.

    Args:
      up, down: (experts, features, hidden units) and (experts, hidden units, features), of some or all experts.
      tokens: (groups, experts, capacity, features), of the same experts.
    Returns:
      The results, shaped like `tokens`.
    """
    hidden = jax.nn.gelu(jnp.einsum("gecd,edh->gech", tokens, up))
    return jnp.einsum("gech,ehd->gecd", hidden, down)


def moe(mesh: Mesh, x: jax.Array, router: jax.Array, up: jax.Array, down: jax.Array, capacity: int) -> jax.Array:
    """Return x plus, for each token that its expert has room for, the expert's result times the router's weight.

    Args:
      mesh: one axis, `expert`, of 8 or 4 devices.
      x: (24, S, 40): groups, tokens, features. Split by groups over the devices.
      router: (40, 16), whole on every device.
      up, down: (16, 40, 96) and (16, 96, 40), split by experts over the devices.
      capacity: how many tokens of one group an expert takes.
    Returns:
      (24, S, 40), split as `x`.
    """
    raise NotImplementedError("Fill buffers, exchange them, apply the experts, exchange the results, and combine.")
