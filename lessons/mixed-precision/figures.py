"""Draws what a weight has gained after many small updates, in float32 and in bfloat16."""

import jax.numpy as jnp

from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_UPDATE = 0.001
_STEPS = {"ten": 10, "hundred": 100, "thousand": 1000}


def _gained(steps: int) -> dict[str, float]:
    weight, master = jnp.bfloat16(1), jnp.float32(1)
    for _ in range(steps):
        weight, master = weight + jnp.bfloat16(_UPDATE), master + jnp.float32(_UPDATE)
    return {"float32": float(master) - 1, "bfloat16": float(weight) - 1}


def figures() -> dict[str, str]:
    drawn = {}
    for number, (name, steps) in enumerate(_STEPS.items(), 1):
        body, said = [], []
        for at, (dtype, gained) in enumerate(_gained(steps).items()):
            body += bar(at * BAR_HEIGHT, dtype, f"{gained:.2f}", [(round(1000 * gained), at + 1)], 1000)
            said.append(f"{dtype} has gained {gained:.2f}")
        what = f"{said[0]}, and {said[1]}."
        drawn[f"{name}.svg"] = svg(f"precision-{number}", f"After {steps} updates", what, 2 * BAR_HEIGHT, body)
    return drawn
