"""Public: what a runner compiles before a submission arrives, so that nobody waits for a compiler.

Operation by operation, for the shapes that the cases have: the pieces that the statement names, not put together.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

SHAPES = (
    (4, 3, 2),
    (1, 3, 2),
    (24, 16, 1),
)
# One case has an x of int32.
WHOLE_NUMBERS = (4, 3, 2)


def warm() -> None:
    for rows, d_in, d_out in SHAPES:
        x, y = jax.device_put(np.ones((rows, d_in), np.float32)), jax.device_put(np.ones((rows, d_out), np.float32))
        model = nnx.Linear(d_in, d_out, rngs=nnx.Rngs(0))
        loss, gradients = nnx.value_and_grad(lambda model, x=x, y=y: jnp.mean((model(x) - y) ** 2))(model)
        optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
        optimizer.update(model, gradients)
        jnp.mean((model(x) - y) ** 2)
        if (rows, d_in, d_out) == WHOLE_NUMBERS:
            nnx.grad(lambda model, x=x, y=y: jnp.mean((model(x.astype(jnp.int32)) - y) ** 2))(model)
    np.asarray(jnp.array([float(jax.device_get(loss)), 0.0]))
