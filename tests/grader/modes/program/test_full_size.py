"""The entry point at the shapes of a real model, from the package's words and a small program's arguments."""

from typing import Any

import pytest
from pydantic import ValidationError

from grader.core.errors import GraderFault
from grader.modes.program.full_size import full_size_function
from grader.package.package import ProgramManifest, ProgramSpec
from tests.grader.checks.program.made_up_programs import EIGHT, program

SPEC: dict[str, Any] = {
    "meshes": [{"x": 8}, {"x": 4}],
    "inputs": {"x": ["x"]},
    "full_size": {"mesh": {"x": 256}, "shapes": {"x": [512, 16]}},
}


def function_of(**changes: Any):
    spec = ProgramSpec(**SPEC | {"full_size": SPEC["full_size"] | changes})
    manifest = ProgramManifest.model_construct(slug="large", entry="f", program=spec)
    return full_size_function(manifest, program(EIGHT))


def test_it_has_the_shapes_of_the_package_and_the_dtypes_and_shardings_of_the_arguments():
    function = function_of()
    assert (function.name, function.mesh) == ("f", {"x": 256})
    assert function.inputs_text == 'x: float32[512, 16] P("x")'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shapes": {}}, "large: full_size.shapes and the arguments differ in x"),
        ({"shapes": {"x": [512, 16], "y": [4]}}, "large: full_size.shapes and the arguments differ in y"),
        (
            {"shapes": {"x": [100, 16]}},
            "large: full_size: x: dimension 0 has 100 elements, which x cannot split into 256",
        ),
    ],
)
def test_what_does_not_fit_the_arguments_is_named(changes, message):
    with pytest.raises(GraderFault) as refused:
        function_of(**changes)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"init": "init"}, "full_size needs an entry point without init"),
        (
            {"full_size": {"mesh": {"y": 256}, "shapes": {}}},
            "the mesh of full_size must have the axes of the others, x",
        ),
    ],
)
def test_a_full_size_that_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        ProgramSpec(**SPEC | changes)
