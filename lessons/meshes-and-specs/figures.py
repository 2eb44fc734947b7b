"""Draws the figures of the lesson from where JAX puts the shards: `python -m tests.lessons.write_claims`."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, rect, svg, text

_MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_ROWS, _COLUMNS = 16, 8


def _mesh() -> str:
    """Each device in its place."""
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


def _blocks(spec: P) -> dict[int, tuple[int, int, int, int]]:
    """First row, end, first column, end of what each device holds."""
    indices = NamedSharding(_MESH, spec).devices_indices_map((_ROWS, _COLUMNS))
    return {
        device.id: (*rows.indices(_ROWS)[:2], *columns.indices(_COLUMNS)[:2])
        for device, (rows, columns) in indices.items()
    }


def _split() -> str:
    """The array over both axes, each block with its device."""
    left, top, wide, high = 60, 30, 36, 11
    body = [text(left + 4 * wide, 16, f"{_COLUMNS} columns, split over model", "soft-text", "middle")]
    for line, words in enumerate((f"{_ROWS} rows,", "split", "over", "data")):
        body.append(text(4, top + 4 * high + 16 * line, words, "soft-text"))
    said = []
    for device, (row, row_end, column, column_end) in sorted(_blocks(P("data", "model")).items()):
        x, y = left + column * wide, top + row * high
        width, height = (column_end - column) * wide, (row_end - row) * high
        body += cell(x, y, width, height, f"held of-{device + 1}", device, "on-held")
        said.append(f"device {device} rows {row} to {row_end - 1}, columns {column} to {column_end - 1}")
    description = f"The array is cut into eight blocks: {'; '.join(said)}."
    return svg("split", "An array split over both axes", description, 216, body)


def _parts() -> str:
    """What one device holds under three specs."""
    device, said, body = 5, [], []
    for at, spec in enumerate((P("data"), P(None, "model"), P())):
        left, top, wide, high = 12 + at * 118, 34, 12, 6
        row, row_end, column, column_end = _blocks(spec)[device]
        name = "P(" + ", ".join("None" if each is None else f'"{each}"' for each in spec) + ")"
        body.append(text(left + 4 * wide, 22, name, "mono soft-text", "middle"))
        body.append(rect(left, top, _COLUMNS * wide, _ROWS * high, "faint"))
        x, y = left + column * wide, top + row * high
        body.append(rect(x, y, (column_end - column) * wide, (row_end - row) * high, f"held of-{device + 1}"))
        said.append(f"with {name} rows {row} to {row_end - 1} and columns {column} to {column_end - 1}")
    description = f"Device {device} holds, {'; '.join(said)}."
    return svg("parts", f"What device {device} holds under three specs", description, 140, body)


def figures() -> dict[str, str]:
    return {"mesh.svg": _mesh(), "split.svg": _split(), "parts.svg": _parts()}
