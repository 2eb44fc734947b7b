"""Run our own programs of the comparison beside dp_step's reference, and say how far apart they are.

`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from app.learning.calculators.comparison_programs import OWN_PROGRAMS, Spec
from grader.package.package import Package
from grader.review.reader import read_package

State = dict[str, Any]
_PROBLEMS = Path(__file__).parents[2] / "problems"


def names_of(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "program"}
    exec(source, names)
    return names


def train(names: dict[str, Any], axes: Mapping[str, int], x: Spec, y: Spec, case: dict[str, Any]) -> list[Any]:
    """The state as it is built, and then the state and the loss after each step."""
    devices = np.array(jax.devices()[: math.prod(axes.values())]).reshape(list(axes.values()))
    mesh = Mesh(devices, tuple(axes))
    step = jax.jit(lambda state, x, y: names["step"](mesh, state, x, y))
    state = names["init"](mesh, case["seed"])
    found: list[Any] = [jax.device_get(state)]
    for rows, targets in zip(case["x"], case["y"], strict=True):
        placed = [jax.device_put(a, NamedSharding(mesh, P(*spec))) for a, spec in ((rows, x), (targets, y))]
        state, loss = step(state, *placed)
        found.append(jax.device_get((state, loss)))
    return found


def packed(found: list[Any], pack: Any) -> list[Any]:
    """What `train` found, with each tree of parameters as the pipeline stores it."""

    def of(state: State) -> State:
        return {name: value if name == "count" else np.asarray(pack(value)) for name, value in state.items()}

    return [of(found[0]), *((of(state), loss) for state, loss in found[1:])]


def farthest(found: list[Any], expected: list[Any], package: Package) -> float:
    """The largest difference as a share of the tolerance of dp_step; infinite where the trees differ."""
    if jax.tree.structure(found) != jax.tree.structure(expected):
        return math.inf
    tolerance = package.manifest.tolerance["float32"]
    shares = jax.tree.map(
        lambda a, b: np.max(np.abs(a - b) / (tolerance.atol + tolerance.rtol * np.abs(b))), found, expected
    )
    return float(np.max(jax.tree.leaves(shares)))


def measure(name: str) -> dict[str, float]:
    """How far apart three steps are on each mesh, as a share of the tolerance of dp_step, to two digits."""
    package = read_package(_PROBLEMS / "dp_step")
    (case,) = names_of(package.cases)["public_cases"]()
    dp = train(names_of(package.reference), {"data": 8}, ("data",), ("data",), case)
    own = OWN_PROGRAMS[name]
    names = names_of(own.source)
    expected = packed(dp, names["pack"]) if "pack" in names else dp
    found = {axes_text(axes): train(names, axes, own.x, own.y, case) for axes in own.meshes}
    return {on: float(f"{farthest(each, expected, package):.2g}") for on, each in found.items()}


def axes_text(axes: Mapping[str, int]) -> str:
    return " ".join(f"{axis}={size}" for axis, size in axes.items())
