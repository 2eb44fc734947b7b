"""Draws how shards are saved and read onto fewer devices, and what a device holds then, from arrays on them."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import BAR_HEIGHT, bar, cell, svg, text
from tests.lessons.state_on_fewer_devices import held

_DEVICES = (8, 7, 6, 5, 4)
_ROWS, _RESTORED = 24, {"eight": 8, "four": 4, "six": 6}
_LEFT, _WIDE, _HIGH, _TOP = 4, 352, 19, 24


def _placed(devices: int) -> jax.Array:
    """Return the numbers of the rows, split over this many devices."""
    return jax.device_put(jnp.arange(_ROWS), NamedSharding(Mesh(jax.devices()[:devices], ("x",)), P("x")))


def _files() -> dict[int, int]:
    """Return the file of each row, which has the number of the device, one of eight, that wrote it."""
    shards = sorted(_placed(8).addressable_shards, key=lambda each: each.device.id)
    return {int(row): number for number, shard in enumerate(shards) for row in shard.data}


def _restored(name: str, devices: int, files: dict[int, int]) -> str:
    """Draw the rows of each device, one below the other, in the colours of their files."""
    wide, deepest = _WIDE / devices, _ROWS // min(_RESTORED.values())
    body, read = [], []
    for number, shard in enumerate(sorted(_placed(devices).addressable_shards, key=lambda each: each.device.id)):
        rows, x = [int(row) for row in shard.data], _LEFT + number * wide
        body.append(text(x + wide / 2, 16, number, "soft-text", "middle"))
        for at, row in enumerate(rows):
            body += cell(x + 2, _TOP + at * _HIGH, wide - 4, _HIGH, f"held of-{files[row] + 1}", row, "on-held")
        found = sorted({files[row] for row in rows})
        read.append(f"device {number} {'files' if len(found) > 1 else 'file'} {' and '.join(map(str, found))}")
    title, what = f"The rows of {devices} devices", f"The rows of a device come from these files: {', '.join(read)}."
    return svg(f"restored-{name}", title, what, _TOP + deepest * _HIGH + 4, body)


def _survivors() -> str:
    found = {devices: held(devices) for devices in _DEVICES}
    most = max(found.values())
    body = []
    for at, (devices, size) in enumerate(found.items()):
        said, colour = (f"{size:,} bytes, whole", 2) if size == most else (f"{size:,} bytes", 1)
        body += bar(at * BAR_HEIGHT, f"{devices} devices", said, [(size, colour)], most)
    described = ", ".join(f"{size:,} bytes on {devices} devices" for devices, size in found.items())
    title = "What a device holds of three layers and their Adam state"
    what = f"{described}. The most is the whole state."
    return svg("survivors", title, what, len(found) * BAR_HEIGHT, body)


def figures() -> dict[str, str]:
    files = _files()
    restored = {f"restored_{name}.svg": _restored(name, devices, files) for name, devices in _RESTORED.items()}
    return {**restored, "survivors.svg": _survivors()}
