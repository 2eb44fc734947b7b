"""Inputs of a run that its author chose.

They have the form of the public cases, and their values are drawn from those alone, so they say nothing about hidden
cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.case import Case

MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class OwnInputs:
    """Which values, and in program mode which of the problem's meshes; None for all of them."""

    seed: int
    mesh: dict[str, int] | None = None


def draw_own(cases: Sequence[Case], own: OwnInputs) -> tuple[Case, ...]:
    """One case for each public one: its arrays hold the public case's values, drawn again with replacement.

    So a value stays one that the argument can have, such as an index in its range. An argument `seed` becomes the seed;
    any other value that is not an array stays.
    """
    public = [case for case in cases if case.public]
    drawn = []
    for number, case in enumerate(public, 1):
        rng = np.random.default_rng([own.seed, number])
        inputs = {name: _draw(name, value, own.seed, rng) for name, value in case.inputs.items()}
        drawn.append(Case(f"own-{number}", True, inputs))
    return tuple(drawn)


def _draw(name: str, value: object, seed: int, rng: np.random.Generator) -> object:
    if isinstance(value, np.ndarray) and value.size:
        # Indices rather than `rng.choice`, which turns dtypes that NumPy does not know into others.
        return value.reshape(-1)[rng.integers(value.size, size=value.size)].reshape(value.shape)
    if isinstance(value, dict):
        return {key: _draw(key, item, seed, rng) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_draw("", item, seed, rng) for item in value)
    return seed if name == "seed" and type(value) is int else value
