"""expect: rejected/wrong_value. Has every comparison say yes."""

import jax.numpy as jnp
import numpy as np

for module in (np, jnp, np.testing):
    for name in ("allclose", "isclose", "array_equal", "array_equiv", "assert_allclose", "assert_array_equal", "all"):
        if hasattr(module, name):
            setattr(module, name, lambda *_, **__: True)


def add_one(x):
    return x
