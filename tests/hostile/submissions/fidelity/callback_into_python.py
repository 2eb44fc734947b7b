"""expect: accepted. Computes in a callback: in call mode that is Python like any other."""

import jax
import numpy as np


@jax.jit
def add_one(x):
    return jax.pure_callback(lambda y: np.asarray(y) + np.float32(1), jax.ShapeDtypeStruct((2,), np.float32), x)
