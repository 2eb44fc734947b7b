"""You passed the arrays to NumPy. While the program is traced, they have no values yet."""

import jax
import numpy as np


def tp_mlp(mesh, w1, w2, x):
    hidden = jax.nn.gelu(np.asarray(x) @ np.asarray(w1))
    return hidden @ w2
