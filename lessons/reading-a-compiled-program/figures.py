"""Draws the groups of collectives along the axes of a mesh, as the compiled programs have them."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.drawing import cell, svg, text

_MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_CELL, _LEFT, _HIGH, _TOP = 50, 80, 36, 28
_AXES = {"data": ("data",), "model": ("model",), "both": ("data", "model")}


def _groups(axes: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The devices of each group of a sum over these axes."""
    body = jax.shard_map(
        lambda x: lax.psum(x, axes), mesh=_MESH, in_specs=P(_MESH.axis_names), out_specs=P(), check_vma=False
    )
    text = jax.jit(body).lower(jnp.ones(_MESH.size)).compile().as_text()
    (found,) = take_census(text, _MESH.size).collectives
    return [tuple(group) for group in found.groups]


def _grid(groups: list[tuple[int, ...]]) -> list[str]:
    rows, columns = _MESH.axis_names
    body = [
        text(_LEFT + 2 * _CELL, 16, columns, "mono", "middle"),
        text(4, _TOP + _HIGH + 5, rows, "mono"),
    ]
    for (row, column), device in np.ndenumerate(_MESH.device_ids):
        (colour,) = [at for at, group in enumerate(groups, 1) if device in group]
        x, y = _LEFT + column * _CELL, _TOP + row * _HIGH
        body += cell(x, y, _CELL, _HIGH, f"held of-{colour}", device, "on-held")
    return body


def _written(groups: list[tuple[int, ...]]) -> str:
    return ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)


def figures() -> dict[str, str]:
    drawn = {}
    for name, axes in _AXES.items():
        groups, along = _groups(axes), " and ".join(axes)
        y = _TOP + 2 * _HIGH + 24
        body = [*_grid(groups), text(4, y, f"over {along}:", "soft-text"), text(4, y + 22, _written(groups), "mono")]
        title, what = f"Groups of a sum over {along}", f"Over {along}, the groups are {_written(groups)}."
        drawn[f"groups_{name}.svg"] = svg(f"groups-{name}", title, what, y + 32, body)
    return drawn
