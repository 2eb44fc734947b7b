"""The mesh of a question, drawn; and for a field, what the page's script can draw on it of what is typed."""

import ast
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.presentation.drawings.mesh import draw_devices, draw_placement
from app.presentation.drawings.placement import Leaf, Mesh
from grader.answers.question_mesh import mesh_of
from grader.package.package import AnswerManifest, AnswerSpec
from grader.verdicts.evidence import Held

Kind = Literal["spec", "axes", "devices"]
_BOX = (1, 1)


@dataclass(frozen=True, slots=True)
class MeshPicture:
    """`data` is JSON for answer_mesh.js: axes, shape and the spec that it must not draw."""

    drawing: Markup
    caption: str
    data: str
    mesh: Mesh
    shape: tuple[int, ...]
    device: int | None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a script fills in beside a field."""

    kind: Kind
    drawing: Markup


@dataclass(frozen=True, slots=True)
class Compared:
    """A placement that the question shows, and that of a wrong answer."""

    question: Markup
    yours: Markup


def picture_of(manifest: AnswerManifest, parameters: Mapping[str, object]) -> MeshPicture | None:
    """None if the problem names no mesh, or if a question of an earlier version cannot be drawn."""
    try:
        found = mesh_of(manifest, parameters)
    except ValueError:
        return None
    if found is None:
        return None
    mesh = Mesh.of(found.axes)
    caption = f"The mesh: {mesh}." if tuple(found.axes) != ("devices",) else f"The {mesh.devices} devices."
    if found.device is not None:
        caption += f" Device {found.device} is marked."
    drawing = draw_devices(mesh, _BOX, title=caption, description=_rows(mesh), marked=found.device)
    data = json.dumps({"axes": mesh.axes, "shape": found.shape, "given": found.given})
    return MeshPicture(drawing, caption, data, mesh, found.shape, found.device)


def meaning_of(spec: AnswerSpec, picture: MeshPicture | None) -> Meaning | None:
    """What can be drawn of an answer of this kind; None for a number, or without a mesh."""
    kind = _kind(spec, picture.mesh) if picture else None
    if picture is None or kind is None:
        return None
    shape = picture.shape if kind == "spec" and picture.shape else _BOX
    title = f"{spec.label}: your answer on the mesh"
    return Meaning(kind, draw_devices(picture.mesh, shape, title=title, description="", marked=picture.device))


def compare_placements(spec: AnswerSpec, picture: MeshPicture | None, right: object, mine: object) -> Compared | None:
    """Draw the placement of `mine` beside that of `right`. None if the question does not show it, or without a drawing.

    Args:
      right, mine: the right spec and a wrong answer, as they are stored.
    """
    if picture is None or not spec.placement_shown:
        return None
    expected, got = (_slices_of(picture, str(each)) for each in (right, mine))
    if expected is None or got is None:
        return None
    leaf = Leaf((spec.label,), (spec.label,), "out", picture.shape, "", False, "", "", expected, got)
    return Compared(
        draw_placement(picture.mesh, leaf, expected, title=f"{spec.label}: the placement of the question"),
        draw_placement(picture.mesh, leaf, got, title=f"{spec.label}: your answer", compare_with=expected),
    )


def _slices_of(picture: MeshPicture, text: str) -> Held | None:
    """What each device holds by a spec such as `P('data', None)`. None if the array cannot be split like this."""
    call = ast.parse(text, mode="eval").body
    entries = [ast.literal_eval(each) for each in call.args] if isinstance(call, ast.Call) else []
    dims = [(each,) if isinstance(each, str) else tuple(each or ()) for each in entries]
    dims += [()] * (len(picture.shape) - len(dims))
    sizes, used = dict(picture.mesh.axes), [axis for dim in dims for axis in dim]
    if len(dims) > len(picture.shape) or len(set(used)) < len(used) or not set(used) <= set(sizes):
        return None
    blocks = [math.prod(sizes[axis] for axis in dim) for dim in dims]
    if any(size % count for size, count in zip(picture.shape, blocks, strict=True)):
        return None
    placement = []
    for device in range(picture.mesh.devices):
        at = dict(zip(sizes, picture.mesh.indices(device), strict=True))
        slices = []
        for size, count, dim in zip(picture.shape, blocks, dims, strict=True):
            block = 0
            for axis in dim:
                block = block * sizes[axis] + at[axis]
            slices.append((block * (size // count), (block + 1) * (size // count)))
        placement.append(tuple(slices))
    return tuple(placement)


def _kind(spec: AnswerSpec, mesh: Mesh) -> Kind | None:
    if spec.kind == "spec":
        return "spec"
    names = {name for name, _ in mesh.axes}
    if spec.kind == "choice" and all(set(each.split(" and ")) <= names for each in spec.choices):
        return "axes"
    numbers = [int(found[0]) if (found := re.search(r"\d+$", row)) else None for row in spec.rows]
    return "devices" if spec.kind == "table" and numbers == list(range(mesh.devices)) else None


def _rows(mesh: Mesh) -> str:
    """`Row by row, devices 0 to 3; 4 to 7.`"""
    columns = mesh.axes[-1][1]
    rows = [f"{first} to {first + columns - 1}" for first in range(0, mesh.devices, columns)]
    return f"Row by row, devices {'; '.join(rows)}."
