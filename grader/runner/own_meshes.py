"""What a source does about devices: the settings with which a script begins, and the meshes that it makes itself.

A process has more devices than most meshes, and its backend is started before a source is loaded. So lines that would
start it must find what they ask for, or say why not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from grader.confined import private_jax
from grader.runner.submission import SubmissionFailed, line_of_source, source_frame

T = TypeVar("T")
_MOST = 64


@dataclass(frozen=True, slots=True)
class OwnMesh:
    """A mesh that line `line` of a source made."""

    mesh: Mesh
    line: int

    def has_shape_of(self, given: Mesh) -> bool:
        """Whether it has the axes of `given`, in their order, and its devices, but perhaps other kinds of axes."""
        return list(self.mesh.shape.items()) == list(given.shape.items()) and np.array_equal(
            self.mesh.devices, given.devices
        )


class OwnMeshes:
    """The meshes that a source has made in this process, oldest first."""

    def __init__(self) -> None:
        self.made: list[OwnMesh] = []

    def install(self) -> None:
        """Watch the making of meshes, and accept settings of devices, from now on."""
        jax.make_mesh = _with_enough_devices(jax.make_mesh)
        jax.distributed.initialize = _initialize_one_process
        private_jax.check_number_of_cpus(_check_number_of_cpus)
        make: Any = Mesh.__new__

        def make_and_record(cls: type[Mesh], *args: object, **named: object) -> Mesh:
            mesh: Mesh = make(cls, *args, **named)
            self._record(mesh)
            return mesh

        Mesh.__new__ = make_and_record  # type: ignore[method-assign]

    def _record(self, mesh: Mesh) -> None:
        line = line_of_source()
        if line and mesh.axis_names and len(self.made) < _MOST and all(each.mesh != mesh for each in self.made):
            self.made.append(OwnMesh(mesh, line))


def on_own_mesh(asked: Mesh, own: Sequence[OwnMesh], export: Callable[[Mesh], T], *, fixed: bool = False) -> T:
    """Export on the mesh of this shape that the source has made, or on `asked` if it has made none.

    Args:
      own: the meshes that the source has made. It grows while the source runs.
      fixed: export only on `asked`.
    Raises:
      SubmissionFailed: from `export`, with advice if the source made meshes that do not fit.
    """
    mesh = asked if fixed else _like(asked, own)
    try:
        return export(mesh)
    except SubmissionFailed as fault:
        # The source may have made its mesh only now, in the function.
        other = mesh if fixed else _like(asked, own)
        if other == mesh:
            raise _advised(fault, own, mesh) from None
    try:
        return export(other)
    except SubmissionFailed as fault:
        raise _advised(fault, own, other) from None


def remarks_on_meshes(asked: Mesh, mesh: Mesh, own: Sequence[OwnMesh]) -> list[str]:
    """Say why the axes of `mesh` are of other kinds than asked for, and that the source has made other meshes."""
    others = (each for each in own if each.mesh.shape_tuple != mesh.shape_tuple)
    remarks = [
        f"Line {each.line} makes the mesh {_sizes_of(each.mesh)}. Everything here is named by the axes of "
        f"{_sizes_of(mesh)}."
        for each in others
    ]
    return [*_remarks_on_kinds(asked, mesh, own), *remarks[:2]]


def _remarks_on_kinds(asked: Mesh, mesh: Mesh, own: Sequence[OwnMesh]) -> list[str]:
    if mesh == asked:
        return []
    explicit = [
        str(axis) for axis, kind in zip(mesh.axis_names, mesh.axis_types, strict=True) if kind == AxisType.Explicit
    ]
    axes = f"The axes {' and '.join(explicit)} are" if len(explicit) > 1 else f"The axis {''.join(explicit)} is"
    line = next((each.line for each in own if each.mesh == mesh), None)
    why = "because the program needs that" if line is None else f"as in the mesh that line {line} makes"
    return [f"{axes} Explicit, {why}."]


def _like(asked: Mesh, own: Sequence[OwnMesh]) -> Mesh:
    return next((each.mesh for each in reversed(own) if each.has_shape_of(asked)), asked)


def _advised(fault: SubmissionFailed, own: Sequence[OwnMesh], mesh: Mesh) -> SubmissionFailed:
    """Add to the fault what to do about the source's own mesh, if its message could be about meshes."""
    words = ("mesh", "axis", "device", "sharding", "partitionspec")
    advice = _advice_on(own, mesh) if any(each in fault.message.lower() for each in words) else ""
    if not advice:
        return fault
    # An error of the lowering has no line, and the mesh is where to look.
    where = {"traceback": fault.detail.get("traceback") or [source_frame(own[-1].line, "<module>")]}
    return SubmissionFailed(fault.reason, f"{fault.message}\n{advice}", fault.detail | where)


def _sizes_of(mesh: Mesh) -> str:
    return ", ".join(f"{axis}={size}" for axis, size in mesh.shape.items())


def _advice_on(made: Sequence[OwnMesh], given: Mesh) -> str:
    """Say what to write if other meshes than `given`, which the source made, may be why it failed, or nothing."""
    others = [each for each in made if each.mesh != given]
    if not others:
        return ""
    last = others[-1]
    if list(last.mesh.shape.items()) != list(given.shape.items()):
        return (
            f"Line {last.line} makes the mesh {_sizes_of(last.mesh)}, but the program is compiled for "
            f"{_sizes_of(given)}. Make the two equal, or take `mesh` as the first parameter and make no other."
        )
    if not np.array_equal(last.mesh.devices, given.devices):
        return (
            f"The mesh that line {last.line} makes has its devices in another order than the mesh for which the "
            "program is compiled, where they are in the order of `jax.devices()`."
        )
    return (
        f"The axes of the mesh that line {last.line} makes are {_kind_names(last.mesh)}; those of the mesh for which "
        f"the program is compiled are {_kind_names(given)}. Make the two equal, for example with "
        "`jax.make_mesh(…, axis_types=…)`."
    )


def _kind_names(mesh: Mesh) -> str:
    return ", ".join(f"{axis} {kind.name}" for axis, kind in zip(mesh.axis_names, mesh.axis_types, strict=True))


def _with_enough_devices(make_mesh: Any) -> Any:
    def checked(axis_shapes: Sequence[int], axis_names: Sequence[str], *args: Any, **named: Any) -> Mesh:
        there = len(jax.devices())
        if not args and named.get("devices") is None and math.prod(axis_shapes) > there:
            shape = ", ".join(f"{axis}={size}" for axis, size in zip(axis_names, axis_shapes, strict=False))
            raise ValueError(
                f"The mesh {shape} needs {math.prod(axis_shapes)} devices, and there are {there}, as many as the mesh "
                "for which the program is compiled has. Make the two equal."
            )
        mesh: Mesh = make_mesh(axis_shapes, axis_names, *args, **named)
        return mesh

    checked.__name__, checked.__doc__ = "make_mesh", make_mesh.__doc__
    return checked


def _initialize_one_process(
    coordinator_address: str | None = None, num_processes: int | None = None, *args: object, **named: object
) -> None:
    if num_processes not in (None, 1):
        raise ValueError(
            f"`jax.distributed.initialize` asks for {num_processes} processes. Here one process has all devices of the "
            "mesh. Remove this call."
        )


def _check_number_of_cpus(number: int) -> None:
    there = len(jax.devices())
    if number < there:
        raise ValueError(
            f"This asks for {number} CPU devices, and the mesh for which the program is compiled has {there}. Remove "
            "this line: the devices are there already."
        )
