"""Draws how one weight becomes a copy on each device, and its gradient a sum, with the numbers that JAX returns."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, svg, text

_MESH = Mesh(jax.devices(), ("x",))
_CELL, _LEFT, _HIGH = 32, 100, 28
_WIDE = _CELL * _MESH.size


def _computed() -> tuple[list[int], int]:
    """The gradient that each device has for its own copy, and the one for the weight that all share."""

    def body(weight: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        def loss(weight: jax.Array) -> jax.Array:
            return jnp.mean(weight * rows)

        return jax.grad(loss)(lax.pcast(weight, "x", to="varying"))[None], jax.grad(loss)(weight)

    run = jax.shard_map(body, mesh=_MESH, in_specs=(P(), P("x")), out_specs=(P("x"), P()))
    own, total = run(jnp.float32(3), jnp.arange(1.0, 9.0))
    return [int(value) for value in own], int(total)


def _row(y: int, name: str, values: Sequence[object], *, coloured: bool = False) -> list[str]:
    """One cell a value, as wide as the devices together."""
    wide = _WIDE // len(values)
    body = [text(4, y + 19, name, "soft-text")]
    for at, value in enumerate(values):
        kinds = (f"held of-{at + 1}", "on-held") if coloured else ("cell", "")
        body += cell(_LEFT + at * wide, y, wide, _HIGH, kinds[0], value, kinds[1])
    return body


def _arrow(y: int, name: str) -> list[str]:
    return [text(_LEFT + _WIDE / 2, y, f"\u2193 {name}", "mono", "middle")]


def figures() -> dict[str, str]:
    own, total = _computed()
    devices = range(_MESH.size)
    body = [
        *_row(4, "weight", [3]),
        *_arrow(51, "pvary"),
        text(4, 72, "device", "soft-text"),
        *(text(_LEFT + (at + 0.5) * _CELL, 72, at, "soft-text", "middle") for at in devices),
        *_row(78, "its copy", [3 for _ in devices]),
        *_row(110, "its row", [at + 1 for at in devices], coloured=True),
        *_row(142, "its gradient", own, coloured=True),
        *_arrow(189, "psum, the transpose"),
        *_row(202, "gradient", [total]),
    ]
    what = (
        "Forward, pvary makes a copy of the weight 3 for each of eight devices, whose rows are 1 to 8. Backward, the "
        f"gradients of the copies are {', '.join(map(str, own))}, and psum adds them up to {total}."
    )
    return {"sum.svg": svg("sum", "The gradient of a weight that is equal on all devices", what, 242, body)}
