"""expect: rejected/time_limit|memory_limit. Has the compiler work out a huge constant."""

import jax
import jax.numpy as jnp


def add_one(x):
    def fold(y):
        huge = jnp.ones((8192, 8192)) @ jnp.ones((8192, 8192)) @ jnp.ones((8192, 8192))
        return y + 0 * huge.sum() + 1

    return jax.jit(fold)(x)
