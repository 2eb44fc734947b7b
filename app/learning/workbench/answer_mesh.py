"""The mesh of a question, drawn; and for a field, what the page's script can draw on it of what is typed."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.presentation.drawings.mesh import draw_devices
from app.presentation.drawings.placement import Mesh
from grader.answers.question_mesh import mesh_of
from grader.package.package import AnswerManifest, AnswerSpec

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
