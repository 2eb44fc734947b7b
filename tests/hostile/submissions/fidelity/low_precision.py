"""expect: rejected/wrong_value. Lowers the precision of every product when it is imported, and hopes for the tolerance."""

import jax
import jax.numpy as jnp

jax.config.update("jax_default_matmul_precision", "bfloat16")


def add_one(x):
    return ((x + 1).astype(jnp.bfloat16) * 1.01).astype(jnp.float32)
