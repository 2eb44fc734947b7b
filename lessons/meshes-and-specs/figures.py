"""Draws the figures of the lesson from where JAX puts the shards: `python -m tests.lessons.write_claims`."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

_MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_ROWS, _COLUMNS = 16, 8
_WIDTH = 360


def _svg(name: str, height: int, title: str, description: str, body: list[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{description}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(x: float, y: float, text: object, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{text}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>'


def _mesh() -> str:
    """Each device in its place."""
    left, top, wide, high = 96, 44, 65, 40
    data, model = _MESH.axis_names
    body = [_text(left + 2 * wide, 16, f"axis {model}", "mono")]
    body += [_text(left + (at + 0.5) * wide, 36, at, "soft-text") for at in range(_MESH.shape[model])]
    body += [_text(4, top + high + 4, f"axis {data}", "mono", "start")]
    for row, devices in enumerate(_MESH.devices):
        body.append(_text(left - 8, top + (row + 0.5) * high + 4, row, "soft-text", "end"))
        for column, device in enumerate(devices):
            x, y = left + column * wide, top + row * high
            body += [_rect(x, y, wide, high, "cell"), _text(x + wide / 2, y + high / 2 + 4, f"device {device.id}")]
    places = "; ".join(
        f"at {data} {row} the devices {', '.join(str(each.id) for each in devices)}"
        for row, devices in enumerate(_MESH.devices)
    )
    return _svg(
        "mesh", 132, "A mesh of two axes", f"A table with a row for each position along {data}: {places}.", body
    )


def _blocks(spec: P) -> dict[int, tuple[int, int, int, int]]:
    """First row, end, first column, end of what each device holds."""
    indices = NamedSharding(_MESH, spec).devices_indices_map((_ROWS, _COLUMNS))
    return {
        device.id: (*rows.indices(_ROWS)[:2], *columns.indices(_COLUMNS)[:2])
        for device, (rows, columns) in indices.items()
    }


def _split() -> str:
    """The array over both axes, each block with its device."""
    left, top, wide, high = 60, 30, 32, 11
    body = [_text(left + 4 * wide, 16, f"{_COLUMNS} columns, split over model", "soft-text")]
    body.append(_text(4, top + 4 * high, f"{_ROWS} rows,", "soft-text", "start"))
    body.append(_text(4, top + 4 * high + 16, "split", "soft-text", "start"))
    body.append(_text(4, top + 4 * high + 32, "over", "soft-text", "start"))
    body.append(_text(4, top + 4 * high + 48, "data", "soft-text", "start"))
    said = []
    for device, (row, row_end, column, column_end) in sorted(_blocks(P("data", "model")).items()):
        x, y = left + column * wide, top + row * high
        width, height = (column_end - column) * wide, (row_end - row) * high
        body += [_rect(x, y, width, height, f"held of-{device + 1}")]
        body += [_text(x + width / 2, y + height / 2 + 5, device, "on-held")]
        said.append(f"device {device} rows {row} to {row_end - 1}, columns {column} to {column_end - 1}")
    description = f"The array is cut into eight blocks: {'; '.join(said)}."
    return _svg("split", 216, "An array split over both axes", description, body)


def _parts() -> str:
    """What one device holds under three specs."""
    device, said, body = 5, [], []
    for at, spec in enumerate((P("data"), P(None, "model"), P())):
        left, top, wide, high = 12 + at * 118, 34, 12, 6
        row, row_end, column, column_end = _blocks(spec)[device]
        name = "P(" + ", ".join("None" if each is None else f'"{each}"' for each in spec) + ")"
        body.append(_text(left + 4 * wide, 22, name, "mono soft-text"))
        body.append(_rect(left, top, _COLUMNS * wide, _ROWS * high, "faint"))
        x, y = left + column * wide, top + row * high
        body.append(_rect(x, y, (column_end - column) * wide, (row_end - row) * high, f"held of-{device + 1}"))
        said.append(f"with {name} rows {row} to {row_end - 1} and columns {column} to {column_end - 1}")
    description = f"Device {device} holds, {'; '.join(said)}."
    return _svg("parts", 140, f"What device {device} holds under three specs", description, body)


def figures() -> dict[str, str]:
    return {"mesh.svg": _mesh(), "split.svg": _split(), "parts.svg": _parts()}
