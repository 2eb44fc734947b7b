"""A user's own inputs for a run: the meshes and arguments that a problem allows, and the fields of the request."""

import json
import re
from typing import Any

from app.core.errors import MeshNotFound, TypedInputsUnfit
from app.core.web.forms import FormInvalid
from app.grading.attempts.views import OwnInputsJSON
from grader.core.errors import InputsUnfit
from grader.inputs.own_inputs import MAX_SEED, OwnInputs
from grader.inputs.typed_inputs import read_typed
from grader.package.package import CallManifest, InputSpec, Package, ProgramManifest
from grader.program.measurement import mesh_name

FIELD = "value."


def meshes_of(package: Package) -> dict[str, dict[str, int]]:
    """The meshes that a run may choose, by name such as `fsdp=8`; none in call mode."""
    match package.manifest:
        case ProgramManifest() as manifest:
            return {mesh_name(mesh): mesh for mesh in manifest.program.meshes}
        case _:
            return {}


def typed_of(package: Package) -> dict[str, InputSpec]:
    """The arguments that a run may type, by name; none in program mode."""
    match package.manifest:
        case CallManifest() as manifest:
            return manifest.inputs
        case _:
            return {}


def choose(package: Package, seed: int, mesh: str | None, values: dict[str, Any] | None = None) -> OwnInputs:
    """Raises `MeshNotFound`, `TypedInputsUnfit`."""
    if values:
        try:
            read_typed(typed_of(package), values)
        except InputsUnfit as unfit:
            raise _unfit(unfit.faults) from None
    if mesh is None:
        return OwnInputs(seed, values=values or None)
    meshes = meshes_of(package)
    if mesh not in meshes:
        allowed = f"Choose one of these: {'; '.join(meshes)}." if meshes else "It is graded without a mesh."
        raise MeshNotFound(f"The problem {package.slug!r} has no mesh {mesh[:80]!r}. {allowed}")
    return OwnInputs(seed, meshes[mesh], values or None)


def own_in_words(own: OwnInputsJSON) -> str:
    """`seed 7`, `seed 7 on fsdp=8` or `seed 7, with your x and lr`."""
    words = f"seed {own.seed}" + (f" on {own.mesh}" if own.mesh else "")
    if not own.values:
        return words
    *most, last = own.values
    return f"{words}, with your {', '.join(most)}{' and ' if most else ''}{last}"


def read_own_inputs(package: Package, form: dict[str, str]) -> OwnInputs:
    """The form's fields `seed` and `mesh`, and `value.NAME` for each argument; an empty one is not chosen.

    Raises `FormInvalid`, `MeshNotFound`, `TypedInputsUnfit`.
    """
    seed = form.get("seed", "")
    if not re.fullmatch("[0-9]{1,10}", seed) or int(seed) > MAX_SEED:
        raise FormInvalid(f"The seed must be a whole number from 0 to {MAX_SEED:,}. Nothing was run.")
    return choose(package, int(seed), form.get("mesh") or None, _typed_in(form))


def _typed_in(form: dict[str, str]) -> dict[str, Any]:
    values, faults = {}, {}
    for field, text in form.items():
        name = field.removeprefix(FIELD)
        if name == field or not text.strip():
            continue
        try:
            values[name] = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            faults[name[:80]] = f"{text.strip()[:40]!r} is not JSON. Write 0.5, [1, 2] or [[1, 2], [3, 4]]."
    if faults:
        raise _unfit(faults)
    return values


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _unfit(faults: dict[str, str]) -> TypedInputsUnfit:
    detail = " ".join(f"{name}: {fault}" for name, fault in faults.items())
    return TypedInputsUnfit(f"{detail} Nothing was run.", faults=faults)
