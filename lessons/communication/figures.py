"""Draws what one device sends around a ring, by collective and number of devices, from the compiled programs."""

from tests.lessons.drawing import BAR_HEIGHT, bar, svg, text
from tests.lessons.rings import WIDTH, sent

_DEVICES = (2, 4, 8)
_GAP = 30


def figures() -> dict[str, str]:
    kinds = ("all_gather", "reduce_scatter", "all_reduce")
    found = {kind: {devices: sent(kind, devices) for devices in _DEVICES} for kind in kinds}
    most = max(max(each.values()) for each in found.values())
    body, y = [], 0
    for colour, (kind, by_devices) in enumerate(found.items(), 1):
        body.append(text(4, y + 15, kind, "mono"))
        y += _GAP
        for devices, size in by_devices.items():
            body += bar(y, f"{devices} devices", f"{size:,} bytes", [(size, colour)], most)
            y += BAR_HEIGHT
    described = " ".join(
        f"{kind}: " + ", ".join(f"{size:,} bytes on {devices} devices" for devices, size in by_devices.items()) + "."
        for kind, by_devices in found.items()
    )
    title = f"What one device sends for a matrix of {WIDTH} by {WIDTH} numbers"
    return {"rings.svg": svg("rings", title, described, y, body)}
