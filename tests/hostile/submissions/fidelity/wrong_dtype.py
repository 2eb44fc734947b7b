"""expect: rejected/wrong_dtype; says: "bfloat16". Returns the right numbers with fewer bits."""

import jax.numpy as jnp


def add_one(x):
    return (x + 1).astype(jnp.bfloat16)
