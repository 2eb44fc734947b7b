"""Draws a cache that fills up, its heads split over devices, from an array that was written on host devices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, rect, svg, text

_N, _ROOM = 4, 4
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))
_LEFT, _TOP, _WIDE, _HIGH = 92, 50, 62, 30


@jax.jit
def _write(cache: jax.Array, position: int) -> jax.Array:
    row = jnp.full((1, _N), position + 1)
    return jax.lax.dynamic_update_slice(cache, row, (position, 0))


def _token(cache: jax.Array, number: int) -> str:
    body = [text(_LEFT + _N * _WIDE / 2, 14, "heads", "soft-text", "middle")]
    for shard in cache.addressable_shards:
        (column,) = range(_N)[shard.index[1]]
        device = _MESH.devices.tolist().index(shard.device)
        body.append(text(_LEFT + (column + 0.5) * _WIDE, 38, f"device {device}", "soft-text", "middle"))
        for position, written in enumerate(np.asarray(shard.data)[:, 0]):
            box = (_LEFT + column * _WIDE, _TOP + position * _HIGH, _WIDE, _HIGH)
            if not written:
                body.append(rect(*box, "faint"))
            elif written == number:
                body += cell(*box, f"held of-{device + 1}", "new", "on-held")
            else:
                body += cell(*box, f"held of-{device + 1}", f"token {written - 1}", "on-held")
    body += [text(4, _TOP + (each + 0.5) * _HIGH + 5, f"position {each}", "soft-text") for each in range(_ROOM)]
    what = f"{number} of {_ROOM} positions are filled, on each of {_N} devices, which has one head of them."
    return svg(f"token-{number}", f"A cache after token {number - 1}", what, _TOP + _ROOM * _HIGH + 6, body)


def figures() -> dict[str, str]:
    cache = jax.device_put(jnp.zeros((_ROOM, _N), int), NamedSharding(_MESH, P(None, "x")))
    drawn = {}
    for position in range(_ROOM):
        cache = _write(cache, position)
        drawn[f"token_{position + 1}.svg"] = _token(cache, position + 1)
    return drawn
