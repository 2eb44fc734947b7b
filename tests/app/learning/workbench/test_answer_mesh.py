"""The page draws the mesh of a question, and knows for which fields a script can draw what is typed."""

import json
import re

import pytest

from app.learning.workbench.answer_mesh import compare_placements, meaning_of, picture_of
from grader.package.package import AnswerManifest, AnswerSpec, MeshSpec
from tests.grader.modes.answer.answer_package import package

PARAMETERS = {"axes": {"data": 2, "model": 4}, "rows": 16, "columns": 8, "device": 3}


def manifest() -> AnswerManifest:
    found = package().manifest
    assert isinstance(found, AnswerManifest)
    mesh = MeshSpec(axes="axes", shape=["rows", "columns"], device="device")
    return found.model_copy(update={"mesh": mesh})


def test_the_mesh_is_drawn_with_its_devices_and_the_one_in_question():
    picture = picture_of(manifest(), PARAMETERS)
    assert picture is not None
    assert picture.caption == "The mesh: data = 2, model = 4. Device 3 is marked."
    assert [f'data-device="{device}"' in picture.drawing for device in range(8)] == [True] * 8
    assert picture.drawing.count('class="marked"') == 1
    assert "Row by row, devices 0 to 3; 4 to 7." in picture.drawing
    assert json.loads(picture.data) == {"axes": [["data", 2], ["model", 4]], "shape": [16, 8], "given": ""}


def test_a_question_of_an_earlier_version_without_its_parameters_has_no_picture():
    assert picture_of(manifest(), {"rows": 16}) is None


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"kind": "spec"}, "spec"),
        ({"kind": "number"}, None),
        ({"kind": "choice", "choices": ["data", "model", "data and model"]}, "axes"),
        ({"kind": "choice", "choices": ["data", "none of them"]}, None),
        ({"kind": "table", "rows": [f"device {n}" for n in range(8)], "columns": ["rows"]}, "devices"),
        ({"kind": "table", "rows": ["a", "b"], "columns": ["rows"]}, None),
    ],
)
def test_only_answers_about_devices_have_a_meaning_on_the_mesh(keys: dict[str, object], kind: str | None):
    spec = AnswerSpec.model_validate({"id": "a", "label": "A", **keys})
    meaning = meaning_of(spec, picture_of(manifest(), PARAMETERS))
    assert (meaning.kind if meaning else None) == kind
    assert meaning_of(spec, None) is None


def letters_in(drawing: str) -> list[str]:
    return re.findall(r'<text[^>]*class="letter[^>]*>([^<]+)<', drawing)


def test_a_wrong_spec_is_drawn_beside_a_placement_that_the_question_shows():
    spec = AnswerSpec(id="a", label="A", kind="spec", placement_shown=True)
    compared = compare_placements(spec, picture_of(manifest(), PARAMETERS), "P('data')", "P(None, 'data')")
    assert compared is not None
    assert letters_in(compared.question) == [*"AAAABBBB"]
    assert letters_in(compared.yours) == ["C ✗"] * 4 + ["D ✗"] * 4
    assert "P(" not in compared.question


@pytest.mark.parametrize("mine", ["P('fsdp')", "P('data', 'data')", "P('data', None, 'model')", "P(('data', 'model'))"])
def test_a_spec_that_does_not_fit_the_array_is_not_drawn(mine):
    spec = AnswerSpec(id="a", label="A", kind="spec", placement_shown=True)
    picture = picture_of(manifest(), PARAMETERS | {"rows": 12})
    assert compare_placements(spec, picture, "P('data')", mine) is None


def test_only_a_placement_that_the_question_shows_is_drawn():
    spec = AnswerSpec(id="a", label="A", kind="spec")
    assert compare_placements(spec, picture_of(manifest(), PARAMETERS), "P('data')", "P()") is None
    with pytest.raises(ValueError, match="only a spec has a placement to draw"):
        AnswerSpec(id="a", label="A", kind="number", placement_shown=True)
