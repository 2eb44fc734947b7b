"""expect: accepted. Goes the long way round through transformations."""

import jax
import jax.numpy as jnp


@jax.jit
def add_one(x):
    total, _ = jax.lax.scan(lambda carry, _: (carry + 0.25, None), x, None, length=4)
    return jax.vmap(jax.grad(lambda y: y * jnp.sum(total) * 0 + y**2 / 2))(total)
