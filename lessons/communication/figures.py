"""Draws what one device sends around a ring, by number of devices and collective, from the compiled programs."""

import jax.numpy as jnp

from tests.lessons.drawing import BAR_HEIGHT, bar, svg
from tests.lessons.rings import WIDTH, sent

_DEVICES = {"two": 2, "four": 4, "eight": 8}
_KINDS = ("all_gather", "reduce_scatter", "all_reduce")


def figures() -> dict[str, str]:
    matrix, drawn = jnp.zeros((WIDTH, WIDTH)).nbytes, {}
    for name, devices in _DEVICES.items():
        found = {kind: sent(kind, devices) for kind in _KINDS}
        amounts, body = {**found, "matrix": matrix, "twice": 2 * matrix}, []
        for at, (label, size) in enumerate(amounts.items()):
            colour = at + 1 if label in found else 7
            body += bar(at * BAR_HEIGHT, label, f"{size:,} bytes", [(size, colour)], 2 * matrix)
        what = ", ".join(f"{size:,} bytes for an {kind}" for kind, size in found.items())
        title = f"What one of {devices} devices sends for a matrix of {WIDTH} by {WIDTH} numbers"
        drawn[f"ring_{name}.svg"] = svg(f"ring-{name}", title, f"It sends {what}.", len(amounts) * BAR_HEIGHT, body)
    return drawn
