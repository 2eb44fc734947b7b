"""Public: what a runner does before a submission arrives. It traces each layer alone, which loads what flax needs."""

import jax.numpy as jnp
from flax import nnx


def warm() -> None:
    for make in (
        lambda: nnx.Embed(3, 2, rngs=nnx.Rngs(0)),
        lambda: nnx.BatchNorm(2, rngs=nnx.Rngs(0)),
        lambda: nnx.Linear(2, 2, param_dtype=jnp.bfloat16, rngs=nnx.Rngs(0)),
        lambda: nnx.LoRA(2, 1, 2, rngs=nnx.Rngs(0)),
        lambda: nnx.Dropout(0.1, rngs=nnx.Rngs(0)),
        lambda: nnx.List([nnx.Variable(jnp.zeros((), jnp.int32))]),
    ):
        layer = nnx.eval_shape(make)
        nnx.split(layer)
        nnx.to_flat_state(nnx.state(layer))
