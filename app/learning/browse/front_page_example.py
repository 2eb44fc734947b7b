"""A rejected program with its evidence, for the front page.

`front_page_example.json` holds the faulty line of a problem's starter, and the judge's verdict on it. So the page's
button opens the program that it shows: the editor begins with the starter. tests/grader/test_front_example.py judges it
again and compares.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from app.core.web.highlight import highlight_code
from app.presentation.drawings.mesh import describe, draw_mesh
from app.presentation.drawings.placement import Leaf, Mesh, group_leaves
from app.presentation.reasons import REASONS
from grader.verdicts.evidence import Held, Leaves

FILE = Path(__file__).parent / "front_page_example.json"


@dataclass(frozen=True, slots=True)
class Picture:
    """One side of a comparison: `words` says what the drawing shows."""

    name: str
    spec: str
    drawing: Markup
    words: str


@dataclass(frozen=True, slots=True)
class Check:
    """One graded property."""

    title: str
    passed: bool
    points: int
    max_points: int


@dataclass(frozen=True, slots=True)
class Example:
    """What the front page shows. `leaf` is the leaf in the pictures."""

    problem: str
    code: Markup
    score: int
    headline: str
    misconception: str
    checks: tuple[Check, ...]
    leaf: str
    pictures: tuple[Picture, ...]


def read_example(text: str) -> Example:
    """Arrange a stored example.

    Raises:
      ValueError: it has no leaf whose placements can be drawn.
    """
    stored: dict[str, Any] = json.loads(text)
    leaves = Leaves.model_validate(stored["leaves"])
    mesh = Mesh.of(leaves.mesh)
    [leaf] = group_leaves(leaves.leaves, mesh)
    if leaf.expected is None or leaf.got is None:
        raise ValueError(f"{leaf.paths[0]} cannot be drawn")
    sides = (("Expected", leaf.expected_spec, leaf.expected), ("Submitted", leaf.got_spec, leaf.got))
    return Example(
        problem=stored["problem"],
        code=highlight_code(stored["code"]),
        score=stored["score"],
        headline=REASONS[stored["reason"]].name,
        misconception=stored["misconception"],
        checks=tuple(Check(**each) for each in stored["checks"]),
        leaf=leaf.paths[0],
        pictures=tuple(_picture(mesh, leaf, leaf.expected, name, spec, slices) for name, spec, slices in sides),
    )


def _picture(mesh: Mesh, leaf: Leaf, expected: Held, name: str, spec: str, slices: Held) -> Picture:
    title = f"{leaf.paths[0]}, {name.lower()}, on {mesh}"
    drawing = draw_mesh(mesh, leaf, slices, title=title, compare_with=expected)
    return Picture(name, spec, drawing, describe(mesh, slices, leaf))


EXAMPLE = read_example(FILE.read_text(encoding="utf-8"))
