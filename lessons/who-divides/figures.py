"""Draws how the gradient of one weight is computed on all devices, summed and divided, with the numbers of JAX."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, rect, svg, text

_MESH = Mesh(jax.devices(), ("x",))
_CELL, _LEFT, _HIGH, _WEIGHT = 32, 100, 28, 3
_WIDE = _CELL * _MESH.size


def _computed() -> tuple[list[int], int, float]:
    """Return each device's gradient for its own copy, the gradient for the weight that all share, and its mean."""

    def body(weight: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        def loss(weight: jax.Array) -> jax.Array:
            return jnp.mean(weight * rows)

        total = jax.grad(loss)(weight)
        return jax.grad(loss)(lax.pcast(weight, "x", to="varying"))[None], total, total / lax.axis_size("x")

    run = jax.shard_map(body, mesh=_MESH, in_specs=(P(), P("x")), out_specs=(P("x"), P(), P()))
    own, total, divided = run(jnp.float32(_WEIGHT), jnp.arange(1.0, 9.0))
    return [int(value) for value in own], int(total), float(divided)


def _row(y: int, name: str, values: Sequence[object], *, coloured: bool = False, shown: bool = True) -> list[str]:
    """Draw one cell per value, together as wide as all devices. With `shown` False, only the outlines are drawn."""
    wide = _WIDE // len(values)
    body = [text(4, y + 19, name, "soft-text")]
    for at, value in enumerate(values):
        kinds = (f"held of-{at + 1}", "on-held") if coloured else ("cell", "")
        box = (_LEFT + at * wide, y, wide, _HIGH)
        body += cell(*box, kinds[0], value, kinds[1]) if shown else [rect(*box, "faint")]
    return body


def _arrow(y: int, name: str) -> list[str]:
    return [text(_LEFT + _WIDE / 2, y, f"\u2193 {name}", "mono", "middle")]


def figures() -> dict[str, str]:
    own, total, divided = _computed()
    devices = range(_MESH.size)
    moments = {
        "forward": f"pvary makes a copy of the weight {_WEIGHT} for each of eight devices, whose rows are 1 to 8.",
        "local": f"The gradients of the copies are {', '.join(map(str, own))}.",
        "sum": f"psum, the transpose of pvary, adds them up to {total}.",
        "division": f"Divided by the eight devices, the gradient is {divided}.",
    }
    drawn = {}
    for reached, (name, what) in enumerate(moments.items()):
        body = [
            *_row(4, "weight", [_WEIGHT]),
            *_arrow(51, "pvary"),
            text(4, 72, "device", "soft-text"),
            *(text(_LEFT + (at + 0.5) * _CELL, 72, at, "soft-text", "middle") for at in devices),
            *_row(78, "its copy", [_WEIGHT for _ in devices]),
            *_row(110, "its row", [at + 1 for at in devices], coloured=True),
            *_row(142, "its gradient", own, coloured=True, shown=reached >= 1),
            *(_arrow(189, "psum, the transpose") if reached >= 2 else []),
            *_row(202, "sum", [total], shown=reached >= 2),
            *(_arrow(249, f"/ {_MESH.size}") if reached >= 3 else []),
            *_row(262, "gradient", [divided], shown=reached >= 3),
        ]
        title = f"The gradient of a weight that is equal on all devices: {name}"
        drawn[f"{name}.svg"] = svg(f"divides-{name}", title, what, 296, body)
    return drawn
