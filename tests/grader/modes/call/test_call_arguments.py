"""Arguments that are made from the values of a case: PRNG keys and meshes."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from grader.core.case import Case
from grader.core.errors import GraderFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.modes.call.call_arguments import wrong_arguments
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox

ADD_ONE = Path(__file__).parents[2] / "packages" / "add_one"
ARGUMENTS = '[arguments]\nkey = "key"\nmesh = "mesh"\n'
CASES = """
def public_cases():
    return [{"key": 3, "mesh": {"data": 1, "model": 2}}]

def hidden_cases(rng):
    yield {"key": int(rng.integers(1000)), "mesh": {"data": 2, "model": 1}}
"""
REFERENCE = """import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def add_one(key, mesh):
    x = jax.device_put(jax.random.normal(key, (4,)), NamedSharding(mesh, P("data")))
    return {"x": x, "axes": tuple(mesh.axis_names), "sizes": tuple(mesh.axis_sizes)}
"""


def package_with(tmp_path: Path, arguments: str = ARGUMENTS) -> Package:
    folder = Path(shutil.copytree(ADD_ONE, tmp_path / "add_one"))
    manifest = folder / "problem.toml"
    manifest.write_text(f"{manifest.read_text()}\n{arguments}")
    for file, text in (("cases.py", CASES), ("reference.py", REFERENCE)):
        (folder / file).write_text(text)
    return read_package(folder)


def test_a_name_that_is_no_argument_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageInvalid, match=r"arguments\.kye: .* takes no 'kye' \(did you mean 'key'\?\)"):
        package_with(tmp_path, '[arguments]\nkye = "key"\n')


RIGHT: dict[str, object] = {"key": 0, "mesh": {"data": 2}}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, None),
        ({"key": -1}, "gives 'key', of which a key is to be made, another value than a Python int"),
        ({"key": True}, "a Python int from 0"),
        ({"key": 2**32}, "a Python int from 0"),
        ({"mesh": {"data": 3}}, "gives 'mesh', of which a mesh is to be made, another value than a dict"),
        ({"mesh": {}}, "of at most 2 devices"),
        ({"mesh": 2}, "of at most 2 devices"),
        ({"mesh": {"data": 0}}, "of at most 2 devices"),
    ],
)
def test_the_values_of_cases_must_fit(tmp_path: Path, inputs: dict[str, object], said: str | None) -> None:
    manifest = package_with(tmp_path).manifest
    assert manifest.mode == "call"
    found = wrong_arguments(manifest, [Case("public-1", True, RIGHT | inputs)])
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_a_package_whose_cases_do_not_fit_grades_nothing(tmp_path: Path) -> None:
    def answer(message: dict[str, Any], values: dict[str, Any]) -> Frame:
        return {"ok": True}, {"cases": {"cases": [{"key": "x", "mesh": {"data": 2}}]}}.get(message["op"], {})

    with pytest.raises(GraderFault, match="public-1 gives 'key'"):
        Judge(NullSandbox(answer), b"s", tmp_path).answers(package_with(tmp_path))


def test_behind_the_walls_functions_receive_a_key_and_a_mesh(judge: Judge, tmp_path: Path) -> None:
    package = package_with(tmp_path)
    verdict = judge.judge(package, package.reference, draw="an attempt")
    assert (verdict.status, verdict.score) == ("accepted", 100)
    other = package.reference.replace("random.normal(key", "random.normal(jax.random.key(4)")
    wrong = judge.judge(package, other)
    assert (wrong.status, wrong.reason) == ("rejected", "wrong_value")
    assert "key = 3" in wrong.cases[0].message
    assert "mesh = {'data': 1, 'model': 2}" in wrong.cases[0].message
