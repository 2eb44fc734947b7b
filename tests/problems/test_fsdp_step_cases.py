"""The inputs of fsdp_step: what they cover, and that they can be drawn again."""

import ast
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="module")
def cases(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fsdp_step_cases", folder / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(cases: ModuleType, first_seed: int = 0, case_seed: int = 7) -> list[dict[str, Any]]:
    """All hidden cases; the first comes from `first_seed`, each other one from `case_seed`."""
    rng = np.random.default_rng(first_seed)
    found = []
    for case in cases.hidden_cases(rng):
        found.append(case)
        rng.bit_generator.state = np.random.default_rng(case_seed).bit_generator.state
    return found


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_there_are_two_public_cases_and_at_least_eight_hidden_ones(cases: ModuleType) -> None:
    assert len(cases.public_cases()) == 2
    assert len(draw(cases)) >= 8


@pytest.mark.parametrize("file", ["starter.py", "reference.py"])
def test_each_case_names_the_arguments_in_the_order_of_the_signature(
    folder: Path, cases: ModuleType, file: str
) -> None:
    tree = ast.parse((folder / file).read_text(encoding="utf-8"))
    entry = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "fsdp_step")
    signature = [argument.arg for argument in entry.args.args]
    assert [list(case) for case in cases.public_cases() + draw(cases)] == [signature] * (2 + len(draw(cases)))


def test_scalars_are_floats_and_arrays_have_rank_two(cases: ModuleType) -> None:
    for case in cases.public_cases() + draw(cases):
        assert {type(case[name]) for name in ("seed", "num_shards", "lr")} == {float}
        assert case["x"].ndim == case["y"].ndim == 2
        assert len(case["x"]) == len(case["y"])
        assert case["y"].dtype == np.float32


def test_the_scalars_of_hidden_cases_cover_what_the_rules_speak_of(cases: ModuleType) -> None:
    hidden = draw(cases)
    assert {0.0, 1.0, 3.7} <= {case["seed"] for case in hidden}
    assert {1.0, 2.0, 3.0, 8.0} <= {case["num_shards"] for case in hidden}
    assert {0.0, 0.1, 1e3} <= {case["lr"] for case in hidden}


def test_the_arrays_of_hidden_cases_cover_what_the_rules_speak_of(cases: ModuleType) -> None:
    hidden = draw(cases)
    assert all(case["x"].shape[1] != case["y"].shape[1] for case in hidden)
    assert any(len(case["x"]) == 1 for case in hidden)
    assert any(case["y"].shape[1] == 1 for case in hidden)
    assert {case["x"].dtype.name for case in hidden} == {"float32", "int32"}
    assert any(len(case["x"]) % int(case["num_shards"]) for case in hidden if len(case["x"]) > 1)


def test_the_same_seed_draws_the_same_case_and_another_seed_another(cases: ModuleType) -> None:
    assert all(map(same, draw(cases), draw(cases)))
    assert not any(map(same, draw(cases)[1:], draw(cases, case_seed=8)[1:]))


def test_a_case_depends_on_no_draw_of_an_earlier_one(cases: ModuleType) -> None:
    one, other = draw(cases, first_seed=0), draw(cases, first_seed=1)
    assert not same(one[0], other[0])
    assert all(map(same, one[1:], other[1:]))


def test_cases_import_numpy_and_the_standard_library_only(folder: Path) -> None:
    tree = ast.parse((folder / "cases.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"collections.abc", "typing", "numpy"}
