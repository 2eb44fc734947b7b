"""expect: rejected/wrong_structure|error; says: "jit". Returns a traced value that has left its jit."""

import jax

leaked = []


@jax.jit
def leak(x):
    leaked.append(x + 1)
    return x


def add_one(x):
    leak(x)
    return leaked[-1]
