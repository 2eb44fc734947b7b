"""How many programs a submission to a call mode problem needs: one set for each shape among its cases."""

import ast
import importlib.util
from pathlib import Path

import numpy as np

PROBLEMS = Path(__file__).parents[2] / "problems"
Shapes = set[tuple[int, int, int]]


def shapes_of_cases(folder: Path) -> Shapes:
    spec = importlib.util.spec_from_file_location(f"{folder.name}_cases", folder / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = [*module.public_cases(), *module.hidden_cases(np.random.default_rng(0))]
    return {(*case["x"].shape, case["y"].shape[1]) for case in cases}


def shapes_of_the_warm_up(folder: Path) -> Shapes:
    for node in ast.parse((folder / "warmup.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "SHAPES":
            return set(ast.literal_eval(node.value))
    raise AssertionError("warmup.py lists no SHAPES")


def test_the_cases_have_two_or_three_shapes_and_the_warm_up_lists_them() -> None:
    shapes = shapes_of_cases(PROBLEMS / "fsdp_step")
    # Every submission is compiled again for each shape. With a single shape, sizes could be written into the code.
    assert 2 <= len(shapes) <= 3
    assert shapes_of_the_warm_up(PROBLEMS / "fsdp_step") == shapes
