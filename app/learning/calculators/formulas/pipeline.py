"""Idle time and live activations of a pipeline.

Each of M microbatches takes one unit in each of S stages, so the last one leaves after M + S - 1 units, of which a
stage works M. Sources: GPipe, https://arxiv.org/abs/1811.06965, section 2.3; for 1F1B and interleaving,
https://arxiv.org/abs/2104.04473, section 2.2.
"""

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs


def pipeline(*, schedule: str, stages: int, layers: int, microbatches: int, chunks: int) -> Outputs:
    """With v chunks of layers on each stage, filling and draining takes 1 / v of the time.

    `live` counts the microbatches whose activations the first stage holds at once, each for all of its layers: all M in
    GPipe, at most S in 1F1B, and S + (S - 1) / v if interleaved (Korthikanti et al., https://arxiv.org/abs/2205.05198,
    section 4.2.3).
    """
    parts = chunks if schedule == "interleaved" else 1
    if stages > layers:
        raise Impossible("stages", f"{stages} stages need at least {stages} layers; there are {layers}.")
    if layers % (stages * parts):
        name = f"{stages} stages" if parts == 1 else f"{stages} stages of {parts} chunks"
        raise Impossible("chunks" if parts > 1 else "stages", f"{layers} layers cannot be divided equally into {name}.")
    if schedule == "interleaved" and microbatches % stages:
        raise Impossible("microbatches", f"The interleaved schedule needs a multiple of the {stages} stages.")
    steps = microbatches * parts + stages - 1
    live: int | float = microbatches
    if schedule == "1f1b":
        live = min(stages, microbatches)
    elif schedule == "interleaved":
        live = min(stages + (stages - 1) / parts, microbatches)
    return {
        "bubble": (stages - 1) / steps,
        "efficiency": microbatches * parts / steps,
        "units": steps / parts,
        "overhead": (stages - 1) / (parts * microbatches),
        "live": live,
    }
