"""expect: rejected/time_limit. Spins on every processor, and returns nothing."""

import jax
import jax.numpy as jnp

big = jnp.ones((2048, 2048))
spin = jax.jit(lambda a: jax.lax.while_loop(lambda _: True, lambda b: b @ b * 1e-3, a))
spin(big).block_until_ready()


def add_one(x):
    return x + 1
