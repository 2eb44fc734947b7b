"""expect: rejected/error|killed. Returns an array whose computation fails later."""

import jax
import numpy as np


def fail(_):
    raise ValueError("later")


@jax.jit
def add_one(x):
    return jax.pure_callback(fail, jax.ShapeDtypeStruct((2,), np.float32), x)
