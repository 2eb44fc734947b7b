"""Find the programs that a problem's cases need: one for each form of inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.core.case import Case
from grader.core.errors import GraderFault
from grader.core.wire import Argument
from grader.package.package import ProgramManifest

_STATIC = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Signature:
    """The cases that one program serves: their static arguments, and the shapes and dtypes of arrays, are the same."""

    args: tuple[Argument, ...]
    inputs: tuple[str, ...]
    cases: tuple[Case, ...]


def signatures_of(manifest: ProgramManifest, cases: Sequence[Case]) -> list[Signature]:
    """Group the cases by the program that they need.

    Raises:
      GraderFault: a case does not fit the package's `[program]`.
    """
    program = manifest.program
    found: dict[str, tuple[list[Argument], list[str], list[Case]]] = {}
    for case in cases:
        args: list[Argument] = []
        names = []
        for name, value in case.inputs.items():
            if name == "seed" and program.init:
                continue
            if isinstance(value, np.ndarray):
                shape = list(value.shape)
                if program.init and shape[:1] != [program.steps]:
                    raise GraderFault(
                        f"{manifest.slug}: {case.id}: {name} needs a leading dimension of {program.steps} steps"
                    )
                spec = program.inputs.get(name, [])
                shape = shape[1:] if program.init else shape
                args.append({"shape": shape, "dtype": value.dtype.name, "spec": spec})
                names.append(name)
            elif type(value) in _STATIC:
                args.append({"static": value})
            else:
                raise GraderFault(f"{manifest.slug}: {case.id}: {name} is neither an array nor a number")
        if program.init and type(case.inputs.get("seed")) is not int:
            raise GraderFault(f"{manifest.slug}: {case.id}: with an `init` every case needs a `seed`, a Python int")
        found.setdefault(repr(args), (args, names, []))[2].append(case)
    return [Signature(tuple(args), tuple(names), tuple(alike)) for args, names, alike in found.values()]
