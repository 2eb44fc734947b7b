"""Draws the temporary memory of a checkpointed loop by its number of segments, from the compiled programs."""

from tests.lessons.checkpointed_loop import LAYERS, temporaries

_SEGMENTS = (1, 2, 4, 8, 16, 32, 64)
_LEFT, _WIDE, _HIGH, _LINE = 96, 260, 16, 42


def figures() -> dict[str, str]:
    needed = {segments: temporaries(segments) for segments in _SEGMENTS}
    most, least = max(needed.values()), min(needed.values())
    body = []
    for at, (segments, size) in enumerate(needed.items()):
        y, width = at * _LINE, round(_WIDE * size / most)
        colour = 3 if size == least else 1
        what = "segment" if segments == 1 else "segments"
        body += [
            f'<text x="4" y="{y + 15}" class="soft-text">{segments} {what}</text>',
            f'<text x="{_LEFT}" y="{y + 15}">{size:,} bytes</text>',
            f'<rect x="{_LEFT}" y="{y + 21}" width="{width}" height="{_HIGH}" class="held of-{colour}"/>',
        ]
    described = " ".join(f"With {segments}, {size:,} bytes." for segments, size in needed.items())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {len(needed) * _LINE}" role="img" '
        'aria-labelledby="segments-title segments-desc">',
        f'<title id="segments-title">Temporary memory of a loop over {LAYERS} layers, by its segments</title>',
        f'<desc id="segments-desc">{described}</desc>',
        *body,
        "</svg>",
    ]
    return {"segments.svg": "\n".join(lines) + "\n"}
