"""Draws what a device holds of a training state, by the number of devices that are left, from arrays on them."""

from tests.lessons.drawing import BAR_HEIGHT, bar, svg
from tests.lessons.state_on_fewer_devices import held

_DEVICES = (8, 7, 6, 5, 4)


def figures() -> dict[str, str]:
    found = {devices: held(devices) for devices in _DEVICES}
    most = max(found.values())
    body = []
    for at, (devices, size) in enumerate(found.items()):
        said, colour = (f"{size:,} bytes, whole", 2) if size == most else (f"{size:,} bytes", 1)
        body += bar(at * BAR_HEIGHT, f"{devices} devices", said, [(size, colour)], most)
    described = ", ".join(f"{size:,} bytes on {devices} devices" for devices, size in found.items())
    title = "What a device holds of three layers and their Adam state"
    what = f"{described}. The most is the whole state."
    return {"survivors.svg": svg("survivors", title, what, len(found) * BAR_HEIGHT, body)}
