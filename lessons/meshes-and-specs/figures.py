"""Draws the figures of the lesson from where JAX puts the shards: `python -m tests.lessons.write_claims`."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import BAR_HEIGHT, bar, cell, rect, svg, text

_MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_ROWS, _COLUMNS = 16, 8
_SPECS = {"both": P("data", "model"), "columns": P(None, "model"), "rows": P("data"), "whole": P()}


def _mesh() -> str:
    """Draw each device in its place on the mesh."""
    left, top, wide, high = 96, 44, 65, 40
    data, model = _MESH.axis_names
    body = [text(left + 2 * wide, 16, f"axis {model}", "mono", "middle")]
    body += [text(left + (at + 0.5) * wide, 36, at, "soft-text", "middle") for at in range(_MESH.shape[model])]
    body += [text(4, top + high + 4, f"axis {data}", "mono")]
    for row, devices in enumerate(_MESH.devices):
        body.append(text(left - 8, top + (row + 0.5) * high + 4, row, "soft-text", "end"))
        for column, device in enumerate(devices):
            body += cell(left + column * wide, top + row * high, wide, high, "cell", f"device {device.id}")
    places = "; ".join(
        f"at {data} {row} the devices {', '.join(str(each.id) for each in devices)}"
        for row, devices in enumerate(_MESH.devices)
    )
    what = f"A table with a row for each position along {data}: {places}."
    return svg("mesh", "A mesh of two axes", what, 132, body)


def _blocks(array: jax.Array) -> dict[int, tuple[int, int, int, int]]:
    """Return what each device holds, as the first row, the end of the rows, the first column and the end of columns."""
    return {
        shard.device.id: tuple(
            bound for each, size in zip(shard.index, array.shape, strict=True) for bound in each.indices(size)[:2]
        )
        for shard in array.addressable_shards
    }


def _split() -> str:
    """Draw the array split over both axes, each block with its device."""
    left, top, wide, high = 60, 30, 36, 11
    body = [text(left + 4 * wide, 16, f"{_COLUMNS} columns, split over model", "soft-text", "middle")]
    for line, words in enumerate((f"{_ROWS} rows,", "split", "over", "data")):
        body.append(text(4, top + 4 * high + 16 * line, words, "soft-text"))
    said = []
    for device, (row, row_end, column, column_end) in sorted(_blocks(_placed(P("data", "model"))).items()):
        x, y = left + column * wide, top + row * high
        width, height = (column_end - column) * wide, (row_end - row) * high
        body += cell(x, y, width, height, f"held of-{device + 1}", device, "on-held")
        said.append(f"device {device} rows {row} to {row_end - 1}, columns {column} to {column_end - 1}")
    description = f"The array is cut into eight blocks: {'; '.join(said)}."
    return svg("split", "An array split over both axes", description, 216, body)


def _placed(spec: P) -> jax.Array:
    return jax.device_put(jnp.zeros((_ROWS, _COLUMNS)), NamedSharding(_MESH, spec))


def _held(name: str, spec: P) -> str:
    """Draw the part of the array that each device of the mesh has, and the bytes. Equal shards share a colour."""
    array = _placed(spec)
    blocks = _blocks(array)
    distinct = sorted(set(blocks.values()))
    left, top, across, down, wide, high = 28, 22, 84, 90, 7.5, 4
    body = []
    for (row, column), device in np.ndenumerate(_MESH.device_ids):
        x, y = left + column * across, top + row * down
        first, end, first_column, end_column = blocks[device]
        body.append(text(x + _COLUMNS * wide / 2, y - 6, f"device {device}", "soft-text", "middle"))
        body.append(rect(x, y, _COLUMNS * wide, _ROWS * high, "faint"))
        part = x + first_column * wide, y + first * high, (end_column - first_column) * wide, (end - first) * high
        body.append(rect(*part, f"held of-{distinct.index(blocks[device]) + 1}"))
    (each,) = {shard.data.nbytes for shard in array.addressable_shards}
    total = sum(shard.data.nbytes for shard in array.addressable_shards)
    y = top + 2 * down - 8
    for colour, (label, size) in enumerate((("each holds", each), ("all hold", total)), 7):
        body += bar(y, label, f"{size:,} bytes", [(size, colour)], array.nbytes * _MESH.size)
        y += BAR_HEIGHT
    copies = _MESH.size // len(distinct)
    what = f"{len(distinct)} different shards, {copies} of each. A device holds {each:,} bytes, and all hold {total:,}."
    title = f"What the devices hold: {name}"
    return svg(f"spec-{name}", title, what, y, body)


def figures() -> dict[str, str]:
    held = {f"spec_{name}.svg": _held(name, spec) for name, spec in _SPECS.items()}
    return {"mesh.svg": _mesh(), "split.svg": _split(), **held}
