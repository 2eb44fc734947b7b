"""expect: rejected/memory_limit. Takes memory through XLA, which has an allocator of its own."""

import jax.numpy as jnp

hoard = []
while True:
    hoard.append(jnp.full((4096, 4096), float(len(hoard))).block_until_ready())


def add_one(x):
    return x + 1
