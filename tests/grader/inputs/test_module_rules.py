"""What is refused of the further modules of an explored source, and what the refusal says."""

import pytest

from grader.inputs.explored_function import Function, read_function
from grader.inputs.module_rules import MAX_MODULE_BYTES, fault_of_modules


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({f"m{number}": "" for number in range(9)}, "There are 9 modules. At most 8 can come with a source."),
        ({"my-model": ""}, "'my-model' cannot be the name of a module."),
        ({"models.block": ""}, "'models.block' cannot be the name of a module."),
        ({"submission": ""}, "A module cannot be named submission, because the Explorer uses that name."),
        ({"jax": ""}, "A module cannot be named jax, because it would hide a module of an installed package."),
        ({"typing_extensions": ""}, "because it would hide a module of an installed package"),
        ({"random": ""}, "A module cannot be named random, because it would hide a module of Python."),
        ({"model": "a = 1\nb = '\0'"}, "The module model has a NUL character on line 2"),
        ({"model": "'\ud800'"}, "The module model has half of a surrogate pair"),
        ({"a": "x" * MAX_MODULE_BYTES, "b": "y"}, "The modules have 65,537 bytes together. At most 65,536 are"),
    ],
    ids=["many", "hyphen", "package", "source", "package", "file", "Python", "NUL", "surrogate", "long"],
)
def test_a_module_that_cannot_come_along_is_named(modules: dict[str, str], message: str) -> None:
    found = fault_of_modules(modules)
    assert found is not None
    assert message in found
    with pytest.raises(ValueError, match="module"):
        read_function("f", "a=2", "x: float32[2]", modules=modules)


def test_a_function_keeps_its_modules_and_an_older_one_has_none() -> None:
    function = read_function("f", "a=2", "x: float32[2]", modules={"model": "y = 1\n"})
    assert Function.model_validate_json(function.model_dump_json()) == function
    older = function.model_dump(mode="json")
    del older["modules"]
    assert Function.model_validate(older).modules == {}
