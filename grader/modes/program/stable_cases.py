"""Draw hidden cases on which all correct programs agree.

Correct programs add in different orders. If a ReLU's input is within rounding of zero, the order decides whether the
unit is on, and gradients then differ by far more than any tolerance. Such a case would reject a correct submission. So
the reference also runs on neighbours of each hidden case, whose inputs differ only by rounding, and a case is drawn
again if the results differ by more than the tolerance.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from grader.checks.compare import excess, tolerance_of
from grader.core.case import Case
from grader.modes.program.verify import Examined
from grader.package.package import Tolerance

log = logging.getLogger(__name__)

_DRAWS = 4
# Changing each input by some units in the last place changes a sum as much as another order of its terms does. There
# are pairs, because only a neighbour on one side of the case crosses the point at which a unit switches.
_PAIRS, _ULPS = 4, 4
# The reference's runs on a case and all of its neighbours.
RUNS_OF_A_CASE = 1 + 2 * _PAIRS
# A tighter tolerance requires exact results, which neighbours do not have.
_LEAST_ULPS = 4 * _ULPS


def draw_steady(
    draw: Callable[[str], tuple[Case, ...]],
    run: Callable[[tuple[Case, ...]], tuple[Examined, ...]],
    key: str,
    tolerances: dict[str, Tolerance],
) -> tuple[tuple[Case, ...], tuple[Examined, ...]]:
    """Return the cases and the reference's runs on them. If no draw of a case is steady, the last one is kept.

    Args:
      draw: makes all cases from a key, each hidden one from its own seed.
      run: returns the reference's programs and their runs on cases.
    """
    cases = draw(key)
    for number in range(1, _DRAWS + 1):
        neighbours = {case.id: neighbours_of(case, tolerances) for case in cases if not case.public}
        examined = run((*cases, *(each for those in neighbours.values() for each in those)))
        unsteady = [name for name, those in neighbours.items() if _leaves_tolerance(name, those, examined, tolerances)]
        if not unsteady or number == _DRAWS:
            break
        others = {case.id: case for case in draw(hashlib.sha256(f"{key} draw {number + 1}".encode()).hexdigest())}
        cases = tuple(others.get(case.id, case) if case.id in unsteady else case for case in cases)
    if unsteady:
        log.warning(
            "%s: inputs that differ by rounding alone give results beyond the tolerance, in each of %d draws",
            ", ".join(unsteady),
            _DRAWS,
        )
    return cases, tuple(_without_neighbours(each, cases) for each in examined)


def neighbours_of(case: Case, tolerances: dict[str, Tolerance]) -> tuple[Case, ...]:
    """Copies of a case whose inputs differ by at most four units in the last place, in pairs with opposite changes.

    Zeros stay zeros. Only float32 and float64 are changed, and only if the tolerance allows another order of summation.
    """
    loose = {
        name: value
        for name, value in case.inputs.items()
        if isinstance(value, np.ndarray)
        and value.dtype in (np.float32, np.float64)
        and tolerance_of(value.dtype.name, tolerances).rtol >= _LEAST_ULPS * np.finfo(value.dtype).eps
    }
    if not loose:
        return ()
    found: list[Case] = []
    for pair in range(_PAIRS):
        rng = np.random.default_rng(pair)
        errors = {
            name: (np.abs(value) * np.finfo(value.dtype).eps * rng.uniform(-_ULPS, _ULPS, value.shape))
            for name, value in loose.items()
        }
        for sign in (1, -1):
            moved = {name: (value + sign * errors[name]).astype(value.dtype) for name, value in loose.items()}
            found.append(Case(f"{case.id}~{len(found) + 1}", False, {**case.inputs, **moved}))
    return tuple(found)


def _leaves_tolerance(
    name: str, neighbours: Sequence[Case], examined: Sequence[Examined], tolerances: dict[str, Tolerance]
) -> bool:
    return any(
        excess(dict(one), dict(moved), tolerances) > 1
        for each in examined
        if name in each.runs
        for other in neighbours
        for one, moved in zip(each.runs[name].steps, each.runs[other.id].steps, strict=True)
    )


def _without_neighbours(examined: Examined, cases: Sequence[Case]) -> Examined:
    ids = {case.id for case in cases}
    kept = tuple(case for case in examined.cases if case.id in ids)
    return replace(examined, cases=kept, runs={case.id: examined.runs[case.id] for case in kept})
