"""expect: rejected/wrong_shape; says: "(2, 2)". Returns a shape that compares equal by broadcasting."""

import jax.numpy as jnp


def add_one(x):
    return jnp.stack([x + 1, x + 1])
