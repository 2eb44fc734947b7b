"""A user's own inputs for a run: the meshes that a problem allows, and the fields of the request."""

import re

from app.errors import MeshNotFound
from app.web.forms import FormInvalid
from grader.own import MAX_SEED, OwnInputs
from grader.package.package import Package, ProgramManifest
from grader.program.measured import mesh_name


def meshes_of(package: Package) -> dict[str, dict[str, int]]:
    """The meshes that a run may choose, by name such as `fsdp=8`; none in call mode."""
    match package.manifest:
        case ProgramManifest() as manifest:
            return {mesh_name(mesh): mesh for mesh in manifest.program.meshes}
        case _:
            return {}


def choose(package: Package, seed: int, mesh: str | None) -> OwnInputs:
    """Raises `MeshNotFound`."""
    if mesh is None:
        return OwnInputs(seed)
    meshes = meshes_of(package)
    if mesh not in meshes:
        allowed = f"Choose one of these: {'; '.join(meshes)}." if meshes else "It is graded without a mesh."
        raise MeshNotFound(f"The problem {package.slug!r} has no mesh {mesh[:80]!r}. {allowed}")
    return OwnInputs(seed, meshes[mesh])


def own_in_words(own: OwnInputs) -> str:
    """`seed 7` or `seed 7 on fsdp=8`."""
    return f"seed {own.seed}" + (f" on {mesh_name(own.mesh)}" if own.mesh else "")


def read_own_inputs(package: Package, form: dict[str, str]) -> OwnInputs:
    """The form's fields `seed` and `mesh`; an empty mesh means all of them. Raises `FormInvalid`, `MeshNotFound`."""
    seed = form.get("seed", "")
    if not re.fullmatch("[0-9]{1,10}", seed) or int(seed) > MAX_SEED:
        raise FormInvalid(f"The seed must be a whole number from 0 to {MAX_SEED:,}. Nothing was run.")
    return choose(package, int(seed), form.get("mesh") or None)
