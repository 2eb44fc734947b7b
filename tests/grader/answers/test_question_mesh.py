"""The mesh of a question comes from the parameters that problem.toml names."""

import pytest

from grader.answers.question_mesh import QuestionMesh, mesh_of
from grader.package.package import AnswerManifest, MeshSpec
from tests.grader.modes.answer.answer_package import package

PARAMETERS = {"axes": {"data": 2, "model": 4}, "rows": 16, "columns": 8, "device": 3, "spec": "P('data')", "fsdp": 4}


def manifest(**keys: object) -> AnswerManifest:
    found = package().manifest
    assert isinstance(found, AnswerManifest)
    return found.model_copy(update={"mesh": MeshSpec.model_validate(keys) if keys else None})


def test_a_mesh_has_its_axes_its_array_and_the_device_in_question():
    named = manifest(axes="axes", shape=["rows", "columns"], device="device", given="spec")
    assert mesh_of(named, PARAMETERS) == QuestionMesh({"data": 2, "model": 4}, (16, 8), 3, "P('data')")


def test_a_number_is_an_axis_with_the_name_of_its_parameter():
    assert mesh_of(manifest(axes="fsdp"), PARAMETERS) == QuestionMesh({"fsdp": 4}, (), None, "")


def test_without_the_table_there_is_none():
    assert mesh_of(manifest(), PARAMETERS) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"axes": {}}, "'axes' must have the axes"),
        ({"axes": {"data": 0}}, "'axes' must have the axes"),
        ({"axes": [2, 4]}, "'axes' must have the axes"),
        ({"axes": {"data": 65}}, "has 65 devices"),
        ({"rows": "16"}, "'rows' must be a size"),
        ({"device": 8}, "'device' must be the number of a device"),
        ({"device": None}, "'device' must be the number of a device"),
        ({"spec": None}, "'spec' must be the text of a spec"),
    ],
)
def test_what_cannot_be_drawn_is_named(changed: dict[str, object], message: str):
    named = manifest(axes="axes", shape=["rows"], device="device", given="spec")
    with pytest.raises(ValueError, match=message):
        mesh_of(named, PARAMETERS | changed)
