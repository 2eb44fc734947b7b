"""Make the entry point of a problem a function at the shapes of a real model, to compile but not run it."""

from collections.abc import Mapping

from pydantic import ValidationError

from grader.core.errors import GraderFault
from grader.inputs.explored_function import Function, FunctionInput, StaticInput, faults_of
from grader.package.package import ProgramManifest
from grader.program.measurement import Measured


def full_size_function(
    manifest: ProgramManifest, small: Measured, helpers: Mapping[str, str] | None = None
) -> Function:
    """The entry point with the mesh and the shapes of `[program.full_size]`, and the shardings of `[program.inputs]`.

    Args:
      small: a program of the entry point, which has the order of the arguments and their dtypes.
      helpers: the modules that the source can import.
    Raises:
      GraderFault: the package has no full size, or one that does not fit its arguments.
    """
    full = manifest.program.full_size
    if full is None:
        raise GraderFault(f"{manifest.slug}: problem.toml checks the full size and has no [program.full_size]")
    dtypes = {name: leaf.dtype for name, leaf in small.given}
    if set(dtypes) != set(full.shapes):
        differing = ", ".join(sorted(set(dtypes) ^ set(full.shapes)))
        raise GraderFault(f"{manifest.slug}: full_size.shapes and the arguments differ in {differing}")
    try:
        inputs: list[FunctionInput | StaticInput] = [
            FunctionInput(name=name, dtype=dtype, shape=full.shapes[name], spec=manifest.program.inputs.get(name, []))
            for name, dtype in dtypes.items()
        ]
        function = Function(name=manifest.entry, mesh=full.mesh, inputs=inputs, modules=dict(helpers or {}))
    except ValidationError as error:
        raise GraderFault(f"{manifest.slug}: full_size: {error.errors()[0]['msg']}") from None
    if faults := faults_of(function):
        raise GraderFault(f"{manifest.slug}: full_size: {faults[0]}")
    return function
