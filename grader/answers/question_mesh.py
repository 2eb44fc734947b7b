"""The mesh that a question is about, read from its parameters, for a drawing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grader.package.package import AnswerManifest

_MAX_DEVICES = 64


@dataclass(frozen=True, slots=True)
class QuestionMesh:
    """The mesh axes and their sizes, the array's shape, and the device and spec that the question names.

    `given` is empty if there is none.
    """

    axes: dict[str, int]
    shape: tuple[int, ...]
    device: int | None
    given: str


def mesh_of(manifest: AnswerManifest, parameters: Mapping[str, object]) -> QuestionMesh | None:
    """The mesh of a question, or None if problem.toml names none.

    Raises:
      ValueError: a parameter is missing or cannot be drawn; the message says which.
    """
    spec = manifest.mesh
    if spec is None:
        return None
    found = {name: parameters.get(name) for name in (spec.axes, spec.device, spec.given, *spec.shape) if name}
    axes = found[spec.axes]
    if _is_size(axes):
        axes = {spec.axes: axes}
    if not isinstance(axes, dict) or not axes or not all(map(_is_size, axes.values())):
        raise ValueError(f"'{spec.axes}' must have the axes with their sizes, or the size of one axis")
    if (devices := math.prod(axes.values())) > _MAX_DEVICES:
        raise ValueError(f"'{spec.axes}' has {devices} devices, and at most {_MAX_DEVICES} are drawn")
    shape = []
    for name in spec.shape:
        size = found[name]
        if not isinstance(size, int) or not _is_size(size):
            raise ValueError(f"'{name}' must be a size")
        shape.append(size)
    device = found[spec.device] if spec.device else None
    if spec.device and (type(device) is not int or not 0 <= device < devices):
        raise ValueError(f"'{spec.device}' must be the number of a device")
    given = found[spec.given] if spec.given else ""
    if not isinstance(given, str):
        raise ValueError(f"'{spec.given}' must be the text of a spec")
    return QuestionMesh(axes, tuple(shape), device if isinstance(device, int) else None, given)


def _is_size(value: object) -> bool:
    return type(value) is int and value > 0
