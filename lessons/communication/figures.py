"""Draws what one device sends around a ring, by collective and number of devices, from the compiled programs."""

from tests.lessons.rings import WIDTH, sent

_DEVICES = (2, 4, 8)
_LEFT, _WIDE, _HIGH, _LINE, _GAP = 96, 260, 14, 36, 30


def figures() -> dict[str, str]:
    kinds = ("all_gather", "reduce_scatter", "all_reduce")
    found = {kind: {devices: sent(kind, devices) for devices in _DEVICES} for kind in kinds}
    most = max(max(each.values()) for each in found.values())
    body, y = [], 0
    for colour, (kind, by_devices) in enumerate(found.items(), 1):
        body.append(f'<text x="4" y="{y + 15}" class="mono">{kind}</text>')
        y += _GAP
        for devices, size in by_devices.items():
            body += [
                f'<text x="4" y="{y + 11}" class="soft-text">{devices} devices</text>',
                f'<text x="{_LEFT}" y="{y + 11}">{size:,} bytes</text>',
                f'<rect x="{_LEFT}" y="{y + 16}" width="{round(_WIDE * size / most)}" height="{_HIGH}" '
                f'class="held of-{colour}"/>',
            ]
            y += _LINE
    described = " ".join(
        f"{kind}: " + ", ".join(f"{size:,} bytes on {devices} devices" for devices, size in by_devices.items()) + "."
        for kind, by_devices in found.items()
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {y}" role="img" '
        'aria-labelledby="rings-title rings-desc">',
        f'<title id="rings-title">What one device sends for a matrix of {WIDTH} by {WIDTH} numbers</title>',
        f'<desc id="rings-desc">{described}</desc>',
        *body,
        "</svg>",
    ]
    return {"rings.svg": "\n".join(lines) + "\n"}
