"""`meshgrade judge --variant`. The judge is a stand-in that grades nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.core.start_errors import StartRefused
from app.entry.cli.__main__ import app
from grader.core.context import QUIET, Context
from grader.package.package import Package
from grader.verdicts.verdict import Verdict

PACKAGES = Path(__file__).parents[3] / "grader" / "packages"


class _Judge:
    def judge(self, package: Package, source: str, context: Context) -> Verdict:
        return Verdict(
            problem=package.slug,
            version=package.version,
            variant=package.variant_name,
            status="accepted",
            reason=None,
            score=100,
            checks=[],
            cases=[],
            walls=[],
        )


@contextmanager
def _local_judge() -> Iterator[tuple[_Judge, Context]]:
    yield _Judge(), QUIET


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.entry.cli.local_judge.local_judge", _local_judge)


def run(package: str, *options: str) -> Result:
    folder = PACKAGES / package
    return CliRunner().invoke(app, ["judge", str(folder), str(folder / "reference.py"), *options])


def test_the_first_variant_is_graded_unless_another_is_named() -> None:
    assert "accepted  Scale by a number, variant a  100 of 100 points" in run("scale_by").stdout
    assert "accepted  Scale by a number, variant b  100 of 100 points" in run("scale_by", "--variant", "b").stdout
    assert "accepted  Add one  100 of 100 points" in run("add_one").stdout


@pytest.mark.parametrize(
    ("package", "said"),
    [("scale_by", "scale_by has no variant 'c'; it has 'a', 'b'."), ("add_one", "add_one has no variants")],
)
def test_a_variant_that_does_not_exist_is_refused(package: str, said: str) -> None:
    refused = run(package, "--variant", "c").exception
    assert isinstance(refused, StartRefused)
    assert said in str(refused)
