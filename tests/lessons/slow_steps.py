"""A training step with faults that only its cost shows, compiled with fewer and fewer of them, for a lesson."""

from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census

LAYERS, WIDTH, ROWS = 4, 256, 1024
_MESH = Mesh(jax.devices(), ("x",))
_WHOLE = NamedSharding(_MESH, P())


@dataclass(frozen=True)
class Cost:
    """The cost of one step on one device."""

    flops: int
    sent: int
    held: int
    written_in_place: int


@cache
def cost(*, split: bool, pinned: bool, donated: bool) -> Cost:
    """Return the cost of a step.

    Args:
      split: each device has its own rows.
      pinned: every hidden layer is made whole.
      donated: the state is donated.
    """

    def loss(weights, x):
        for weight in weights:
            x = jnp.tanh(x @ weight)
            if pinned:
                x = jax.lax.with_sharding_constraint(x, _WHOLE)
        return jnp.mean(x**2)

    def step(state, x):
        weights, momentum = state
        grads = jax.grad(loss)(weights, x)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        return jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum), momentum

    weights = [jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32, sharding=_WHOLE)] * LAYERS
    rows = NamedSharding(_MESH, P("x")) if split else _WHOLE
    x = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32, sharding=rows)
    compiled = jax.jit(step, donate_argnums=0 if donated else ()).lower((weights, weights), x).compile()
    census, memory = take_census(compiled.as_text(), _MESH.size), compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    return Cost(
        flops=census.dot_flops or 0,
        sent=sum(each.ring_bytes * each.executions for each in census.collectives),
        held=held - memory.alias_size_in_bytes,
        written_in_place=memory.alias_size_in_bytes,
    )


STAGES = {
    "found": cost(split=False, pinned=True, donated=False),
    "split": cost(split=True, pinned=True, donated=False),
    "free": cost(split=True, pinned=False, donated=False),
    "donated": cost(split=True, pinned=False, donated=True),
}
