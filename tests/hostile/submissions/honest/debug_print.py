"""expect: accepted; says: "x is". Prints from within a compiled program."""

import jax


@jax.jit
def add_one(x):
    jax.debug.print("x is {}", x)
    return x + 1
