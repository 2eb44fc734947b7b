"""expect: rejected/time_limit|memory_limit. Traces a million operations into one program."""

import jax


def add_one(x):
    def huge(y):
        for _ in range(1_000_000):
            y = y * 1.0
        return y + 1

    return jax.jit(huge)(x)
