"""Inputs that the author of a run chose.

Values that the author did not type are drawn from the public cases, so they reveal nothing about hidden cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from grader.core.case import Case
from grader.inputs.typed_inputs import read_typed, sizes_of
from grader.package.package import InputSpec

MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class OwnInputs:
    """A seed for drawn values; in program mode, one of the problem's meshes, or None for all of them.

    `values` are the typed arguments in call mode, JSON values by name.
    """

    seed: int
    mesh: dict[str, int] | None = None
    values: dict[str, object] | None = None

    def stored(self) -> dict[str, object]:
        """The fields as JSON, enough to make the same inputs again."""
        return {name: value for name, value in asdict(self).items() if name != "values" or value}


def draw_own(cases: Sequence[Case], own: OwnInputs) -> tuple[Case, ...]:
    """Make one case from each public case by drawing its arrays' elements again, with replacement.

    So every value is one that the argument can have, such as an index within range. An argument `seed` gets the chosen
    seed, and other values that are not arrays stay unchanged.
    """
    public = [case for case in cases if case.public]
    drawn = []
    for number, case in enumerate(public, 1):
        rng = np.random.default_rng([own.seed, number])
        inputs = {name: _draw(name, value, own.seed, rng) for name, value in case.inputs.items()}
        drawn.append(Case(f"own-{number}", True, inputs))
    return tuple(drawn)


def typed_case(cases: Sequence[Case], own: OwnInputs, specs: Mapping[str, InputSpec]) -> tuple[Case, ...]:
    """Make one case with the typed values; the other arguments are drawn from the first public case, as in `draw_own`.

    A dimension whose name occurs in a typed array gets the typed array's size.

    Raises:
      InputsUnfit: the values do not fit the problem.
    """
    typed = read_typed(specs, own.values or {})
    sizes = sizes_of(specs, typed)
    rng = np.random.default_rng([own.seed, 1])
    inputs: dict[str, object] = {}
    for name, value in next(case for case in cases if case.public).inputs.items():
        if name in typed:
            inputs[name] = typed[name]
            continue
        dims = specs[name].shape if name in specs else None
        if dims is not None and isinstance(value, np.ndarray) and value.size and len(dims) == value.ndim:
            shape = [sizes.get(str(dim), size) for dim, size in zip(dims, value.shape, strict=True)]
            inputs[name] = value.reshape(-1)[rng.integers(value.size, size=shape)]
        else:
            inputs[name] = _draw(name, value, own.seed, rng)
    return (Case("own-1", True, inputs),)


def _draw(name: str, value: object, seed: int, rng: np.random.Generator) -> object:
    if isinstance(value, np.ndarray) and value.size:
        # Draw indices, because `rng.choice` changes dtypes that NumPy does not know.
        return value.reshape(-1)[rng.integers(value.size, size=value.size)].reshape(value.shape)
    if isinstance(value, dict):
        return {key: _draw(key, item, seed, rng) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_draw("", item, seed, rng) for item in value)
    return seed if name == "seed" and type(value) is int else value
