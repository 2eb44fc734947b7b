"""Draws how one weight becomes a copy on each device, and its gradient a sum, with the numbers that JAX returns."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

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
    body = [f'<text x="4" y="{y + 19}" class="soft-text">{name}</text>']
    for at, value in enumerate(values):
        x, kind = _LEFT + at * wide, f"held of-{at + 1}" if coloured else "cell"
        body.append(f'<rect x="{x}" y="{y}" width="{wide}" height="{_HIGH}" class="{kind}"/>')
        kind = ' class="on-held"' if coloured else ""
        body.append(f'<text x="{x + wide // 2}" y="{y + 19}" text-anchor="middle"{kind}>{value}</text>')
    return body


def _arrow(y: int, name: str) -> list[str]:
    return [f'<text x="{_LEFT + _WIDE // 2}" y="{y}" text-anchor="middle" class="mono">\u2193 {name}</text>']


def figures() -> dict[str, str]:
    own, total = _computed()
    devices = range(_MESH.size)
    names = [
        f'<text x="{_LEFT + at * _CELL + _CELL // 2}" y="72" text-anchor="middle" class="soft-text">{at}</text>'
        for at in devices
    ]
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 242" role="img" '
        'aria-labelledby="sum-title sum-desc">',
        '<title id="sum-title">The gradient of a weight that is equal on all devices</title>',
        '<desc id="sum-desc">Forward, pvary makes a copy of the weight 3 for each of eight devices, whose rows are '
        f"1 to 8. Backward, the gradients of the copies are {', '.join(map(str, own))}, and psum adds them up to "
        f"{total}.</desc>",
        *_row(4, "weight", [3]),
        *_arrow(51, "pvary"),
        '<text x="4" y="72" class="soft-text">device</text>',
        *names,
        *_row(78, "its copy", [3 for _ in devices]),
        *_row(110, "its row", [at + 1 for at in devices], coloured=True),
        *_row(142, "its gradient", own, coloured=True),
        *_arrow(189, "psum, the transpose"),
        *_row(202, "gradient", [total]),
        "</svg>",
    ]
    return {"sum.svg": "\n".join(lines) + "\n"}
