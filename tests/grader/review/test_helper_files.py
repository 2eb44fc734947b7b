"""Helpers of a package: which names they may have, who gets them, and that they are public."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.mistakes.known_mistakes import _depends_on
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.reader import read_package
from grader.review.validation import leaks
from grader.sandbox.null_sandbox import NullSandbox

PACKAGES = Path(__file__).parents[1] / "packages"
HELPER = "def one():\n    return 1\n"


def folder_with(tmp_path: Path, helpers: dict[str, str], problem: str = "add_one") -> Path:
    folder = Path(shutil.copytree(PACKAGES / problem, tmp_path / problem))
    (folder / "helpers").mkdir()
    for name, text in helpers.items():
        (folder / "helpers" / name).write_text(text)
    return folder


def package_with(tmp_path: Path, helpers: dict[str, str]) -> Package:
    return read_package(folder_with(tmp_path, helpers))


def test_helpers_are_read_by_the_name_that_code_imports(tmp_path: Path) -> None:
    package = package_with(tmp_path, {"numbers_of.py": HELPER})
    assert package.helpers == {"numbers_of": HELPER}
    assert package.version != read_package(PACKAGES / "add_one").version


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("numpy.py", HELPER, "helpers/numpy.py would hide the installed module numpy"),
        ("json.py", HELPER, "helpers/json.py would hide the installed module json"),
        ("submission.py", HELPER, "helpers/submission.py would hide the installed module submission"),
        ("add_one.py", HELPER, "helpers/add_one.py has the name of the problem"),
        ("broken.py", "def", "helpers/broken.py is not Python"),
        ("long.py", "#" * (65 << 10), "helpers/ has 1 files of 66,560 bytes in all; at most 8 of 65,536 are read"),
        ("Upper.py", HELPER, "helpers/Upper.py does not belong in a package"),
    ],
    ids=["numpy", "json", "submission", "slug", "syntax", "long", "upper case"],
)
def test_a_helper_that_cannot_be_one_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(PackageInvalid) as caught:
        package_with(tmp_path, {name: text})
    assert said in str(caught.value.faults[0])


def test_a_helper_is_public_and_must_not_contain_the_solution(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {})
    (folder / "helpers" / "given.py").write_text((folder / "reference.py").read_text())
    assert {each.file for each in leaks(read_package(folder))} == {"helpers/given.py"}


def test_fingerprints_depend_on_helpers_only_if_there_are_any(tmp_path: Path) -> None:
    without = read_package(PACKAGES / "add_one")
    package = package_with(tmp_path, {"given.py": HELPER})
    mistake = without.rejected[0]
    assert _depends_on(without, "", mistake) != _depends_on(package, "", mistake)


def test_every_source_can_import_them(tmp_path: Path) -> None:
    loads = []

    def answer(message: dict[str, Any], values: dict[str, Any]) -> Frame:
        if message["op"] == "load":
            loads.append(message["modules"])
        replies = {"load": {}, "cases": {"cases": [{"x": np.ones(2, np.float32)}]}}
        return {"ok": True}, replies.get(message["op"], {"result": np.ones(2, np.float32), "observed": []})

    package = package_with(tmp_path, {"given.py": HELPER})
    Judge(NullSandbox(answer), b"s", tmp_path).judge(package, "the source", draw="an attempt")
    assert len(loads) >= 6
    assert all(each == {"given": HELPER} for each in loads)


def test_a_submission_behind_the_walls_imports_one(judge: Judge, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, {"given.py": HELPER})
    source = "import given\n\ndef add_one(x):\n    return x + given.one()\n"
    (folder / "warmup.py").write_text("from given import one\n\ndef warm():\n    one()\n")
    verdict = judge.judge(read_package(folder), source)
    assert (verdict.status, verdict.score) == ("accepted", 100)


def test_a_program_is_exported_with_them(judge: Judge, tmp_path: Path) -> None:
    """The starter imports it as well, and its `init` warms the runner."""
    given = "import jax.numpy as jnp\n\ndef count():\n    return jnp.zeros((), jnp.int32)\n"
    folder = folder_with(tmp_path, {"given.py": given}, "move_mean")
    for file in ("reference.py", "starter.py"):
        (folder / file).write_text(f"from given import count\n{(folder / file).read_text()}")
    package = read_package(folder)
    source = package.reference.replace("jnp.zeros((), jnp.int32)", "count()")
    assert source != package.reference
    verdict = judge.judge(package, source)
    assert [check.message for check in verdict.checks if not check.passed] == []
