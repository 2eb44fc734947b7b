"""Draws the temporary memory of a checkpointed loop by its number of segments, from the compiled programs."""

from tests.lessons.checkpointed_loop import LAYERS, temporaries
from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_SEGMENTS = (1, 2, 4, 8, 16, 32, 64)


def figures() -> dict[str, str]:
    needed = {segments: temporaries(segments) for segments in _SEGMENTS}
    most, least = max(needed.values()), min(needed.values())
    body = []
    for at, (segments, size) in enumerate(needed.items()):
        label = f"{segments} {'segment' if segments == 1 else 'segments'}"
        body += bar(at * BAR_HEIGHT, label, f"{size:,} bytes", [(size, 3 if size == least else 1)], most)
    described = " ".join(f"With {segments}, {size:,} bytes." for segments, size in needed.items())
    title = f"Temporary memory of a loop over {LAYERS} layers, by its segments"
    return {"segments.svg": svg("segments", title, described, len(needed) * BAR_HEIGHT, body)}
