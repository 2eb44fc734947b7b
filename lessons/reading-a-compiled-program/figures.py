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
_CELL, _LEFT, _TEXT, _BAND = 30, 4, 140, 86
_AXES = (("data",), ("model",), ("data", "model"))


def _groups(axes: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The devices of each group of a sum over these axes."""
    body = jax.shard_map(
        lambda x: lax.psum(x, axes), mesh=_MESH, in_specs=P(_MESH.axis_names), out_specs=P(), check_vma=False
    )
    text = jax.jit(body).lower(jnp.ones(_MESH.size)).compile().as_text()
    (found,) = take_census(text, _MESH.size).collectives
    return [tuple(group) for group in found.groups]


def _grid(top: int, groups: list[tuple[int, ...]]) -> list[str]:
    body = []
    for (row, column), device in np.ndenumerate(_MESH.device_ids):
        (colour,) = [at for at, group in enumerate(groups, 1) if device in group]
        x, y = _LEFT + column * _CELL, top + row * _CELL
        body += cell(x, y, _CELL, _CELL, f"held of-{colour}", device, "on-held")
    return body


def _written(groups: list[tuple[int, ...]]) -> str:
    return ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)


def figures() -> dict[str, str]:
    body, described = [], []
    for at, axes in enumerate(_AXES):
        groups, top, name = _groups(axes), at * _BAND + 8, " and ".join(axes)
        body += _grid(top, groups)
        body.append(text(_TEXT, top + 20, f"along {name}", "soft-text"))
        body.append(text(_TEXT, top + 44, _written(groups), "mono"))
        described.append(f"Along {name}, the groups are {_written(groups)}.")
    title = "Groups of a mesh of 2 by 4 devices"
    return {"groups.svg": svg("hlo-groups", title, " ".join(described), len(_AXES) * _BAND, body)}
