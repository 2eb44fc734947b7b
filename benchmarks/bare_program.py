"""Run the cases of a program-mode problem as a student would: jit, then all steps on every mesh."""

import math
import types
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def run_programs(entry: str, program: dict[str, Any], cases: list[dict[str, Any]], module: types.ModuleType) -> bool:
    """Compile the step once per mesh, with the state donated, and run every case. Returns whether all losses are right.

    Args:
      program: `init`, `steps`, `meshes` and `inputs` of a problem's `[program]`.
      cases: `inputs`, and for each mesh the reference's loss at each step.
    """
    # Clear what JAX has traced and compiled, because a judge hardly ever gets the same submission twice.
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
    """Return the loss of each step. Also reads every leaf of every state, as a judge must."""
    state = getattr(module, program["init"])(mesh, case["seed"])
    jax.tree.map(np.asarray, state)
    # Two leaves from `init` may share one array, whose buffer can be donated only once. Copy each, as the judge does.
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
    """Return the state's mesh if it has explicit axes, because the inputs must then be typed too; otherwise `mesh`."""
    for leaf in jax.tree.leaves(state):
        sharding = getattr(leaf, "sharding", None)
        if isinstance(sharding, NamedSharding) and AxisType.Explicit in sharding.mesh.axis_types:
            return Mesh(mesh.devices, mesh.axis_names, axis_types=sharding.mesh.axis_types)
    return mesh


def _spec(dims: list[Any]) -> P:
    parts = (tuple(dim) if isinstance(dim, list) else dim or None for dim in dims)
    return P(*parts)  # type: ignore[no-untyped-call]
