"""Draws what a device holds of a training state, by the number of devices that are left, from arrays on them."""

from tests.lessons.state_on_fewer_devices import held

_DEVICES = (8, 7, 6, 5, 4)
_LEFT, _WIDE, _HIGH, _LINE = 84, 270, 14, 38


def figures() -> dict[str, str]:
    found = {devices: held(devices) for devices in _DEVICES}
    most = max(found.values())
    body = []
    for at, (devices, size) in enumerate(found.items()):
        y, colour = at * _LINE, 2 if size == most else 1
        how = ", whole" if size == most else ""
        body += [
            f'<text x="4" y="{y + 26}" class="soft-text">{devices} devices</text>',
            f'<text x="{_LEFT}" y="{y + 13}">{size:,} bytes{how}</text>',
            f'<rect x="{_LEFT}" y="{y + 18}" width="{round(_WIDE * size / most)}" height="{_HIGH}" '
            f'class="held of-{colour}"/>',
        ]
    described = ", ".join(f"{size:,} bytes on {devices} devices" for devices, size in found.items())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {len(found) * _LINE}" role="img" '
        'aria-labelledby="survivors-title survivors-desc">',
        '<title id="survivors-title">What a device holds of three layers and their Adam state</title>',
        f'<desc id="survivors-desc">{described}. The most is the whole state.</desc>',
        *body,
        "</svg>",
    ]
    return {"survivors.svg": "\n".join(lines) + "\n"}
