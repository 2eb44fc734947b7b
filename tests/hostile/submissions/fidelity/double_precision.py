"""expect: rejected/wrong_dtype; says: "float64". Switches 64-bit mode on when it is imported."""

import jax

jax.config.update("jax_enable_x64", True)


def add_one(x):
    return x.astype("float64") + 1
