"""A loop over layers that is checkpointed in segments, compiled once for the claims and the figure of a lesson."""

from functools import cache

import jax
import jax.numpy as jnp
from jax import lax

LAYERS = 64
_WIDTH, _ROWS = 64, 512


@cache
def temporaries(segments: int) -> int:
    """The temporary buffers of the gradient on one device, with jax.checkpoint around each segment of layers."""

    def layer(hidden: jax.Array, weight: jax.Array) -> tuple[jax.Array, None]:
        return jnp.tanh(hidden @ weight), None

    def segment(hidden: jax.Array, weights: jax.Array) -> tuple[jax.Array, None]:
        return lax.scan(layer, hidden, weights)[0], None

    def loss(weights: jax.Array, rows: jax.Array) -> jax.Array:
        grouped = weights.reshape(segments, LAYERS // segments, _WIDTH, _WIDTH)
        hidden, _ = lax.scan(jax.checkpoint(segment), rows, grouped)
        return jnp.mean(hidden**2)

    weights = jax.ShapeDtypeStruct((LAYERS, _WIDTH, _WIDTH), jnp.float32)
    rows = jax.ShapeDtypeStruct((_ROWS, _WIDTH), jnp.float32)
    return jax.jit(jax.grad(loss)).lower(weights, rows).compile().memory_analysis().temp_size_in_bytes
