"""The cases of a program mode problem as a student runs them: jit, and all steps on every mesh."""

import math
import types
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def run_programs(entry: str, program: dict[str, Any], cases: list[dict[str, Any]], module: types.ModuleType) -> bool:
    """On each mesh: compile the step once, with the state donated, and run every case. True if all losses are right.

    Args:
      program: `init`, `steps`, `meshes` and `inputs` of a problem's `[program]`.
      cases: `inputs`, and for each mesh the reference's loss at each step.
    """
    # Drop what the process has traced and compiled: every submission is new, and no two are alike.
    jax.clear_caches()  # type: ignore[no-untyped-call]
    right = True
    for number, axes in enumerate(program["meshes"]):
        devices = np.array(jax.devices()[: math.prod(axes.values())]).reshape(tuple(axes.values()))
        mesh = Mesh(devices, tuple(axes))
        with jax.set_mesh(mesh):
            step = jax.jit(partial(getattr(module, entry), mesh), donate_argnums=0)
            for case in cases:
                losses = _run_case(module, step, mesh, program, case["inputs"])
                right = right and np.allclose(losses, case["losses"][number], rtol=1e-3)
    return right


def _run_case(
    module: types.ModuleType, step: Any, mesh: Mesh, program: dict[str, Any], case: dict[str, Any]
) -> list[np.ndarray[Any, Any]]:
    """The loss of each step. Every leaf of every state is read too, as a judge must do."""
    state = getattr(module, program["init"])(mesh, case["seed"])
    jax.tree.map(np.asarray, state)
    # Two leaves of an `init` may be one array, whose buffer can be donated only once. The judge has one for each, too.
    state = jax.tree.map(lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, state)
    losses = []
    typed = _mesh_of(state, mesh)
    for number in range(program["steps"]):
        inputs = [
            jax.device_put(value[number], NamedSharding(typed, _spec(program["inputs"].get(name, []))))
            for name, value in case.items()
            if name != "seed"
        ]
        with jax.set_mesh(typed):
            state, loss = step(state, *inputs)
        jax.tree.map(np.asarray, state)
        losses.append(np.asarray(loss))
    return losses


def _mesh_of(state: Any, mesh: Mesh) -> Mesh:
    """The mesh of the state, if its type includes shardings: the inputs must then be typed too."""
    for leaf in jax.tree.leaves(state):
        sharding = getattr(leaf, "sharding", None)
        if isinstance(sharding, NamedSharding) and AxisType.Explicit in sharding.mesh.axis_types:
            return Mesh(mesh.devices, mesh.axis_names, axis_types=sharding.mesh.axis_types)
    return mesh


def _spec(dims: list[Any]) -> P:
    parts = (tuple(dim) if isinstance(dim, list) else dim or None for dim in dims)
    return P(*parts)  # type: ignore[no-untyped-call]
