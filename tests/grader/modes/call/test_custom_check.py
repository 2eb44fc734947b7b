"""A package's own check.py decides whether results are right, after the submission's process has ended."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.core.context import NEVER, Stop
from grader.core.errors import SubmissionFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox, NullSession
from grader.sandbox.protocol import RunnerSpec
from grader.verdicts.verdict import Verdict

ADD_ONE = Path(__file__).parents[2] / "packages" / "add_one"
CUSTOM = "points = 100\ncustom = true\n"
# Either sign is right.
CHECK = """import numpy as np

def check(expected, got):
    assert type(got) is np.ndarray and got.dtype == np.float32
    if np.isnan(got).any():
        raise ValueError("a secret")
    return None if np.array_equal(np.abs(got), np.abs(expected)) else f"{got[0]:g} is wrong."
"""


def package_with(tmp_path: Path, manifest: str = CUSTOM, check: str | None = CHECK) -> Package:
    folder = Path(shutil.copytree(ADD_ONE, tmp_path / "add_one"))
    file = folder / "problem.toml"
    file.write_text(file.read_text().replace("points = 100\n", manifest))
    if check is not None:
        (folder / "check.py").write_text(check)
    return read_package(folder)


PART = '[[checks.parts]]\ntitle = "All"\npoints = 1\n'


@pytest.mark.parametrize(
    ("manifest", "check", "said"),
    [
        (CUSTOM, None, "check.py is missing or empty"),
        ("points = 100\n", CHECK, "check.py is for a check 'values' with custom = true"),
        (CUSTOM + PART, CHECK, "either custom = true or parts, not both"),
    ],
    ids=["no file", "no key", "parts"],
)
def test_the_key_and_the_file_belong_together(tmp_path: Path, manifest: str, check: str | None, said: str) -> None:
    with pytest.raises(PackageInvalid, match=said):
        package_with(tmp_path, manifest, check)


class Recorded(NullSandbox):
    """Plays the runners. `sessions` says in order which were opened and closed, and by which source."""

    def __init__(self, package: Package, said: Callable[[], Any]) -> None:
        self.sessions: list[str] = []
        self.asked: list[Any] = []
        self._package, self._said, self._loaded = package, said, ""
        super().__init__(self._reply)

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> NullSession:
        session = super().open(spec, stop)
        sandbox = self

        class Session(NullSession):
            def __exit__(self, *error: object) -> None:
                sandbox.sessions.append(f"closed {sandbox._loaded}")

        session.__class__ = Session
        return session

    def _reply(self, message: dict[str, Any], values: dict[str, Any]) -> Frame:
        match message["op"]:
            case "load":
                known = {self._package.reference: "reference", self._package.cases: "cases", "the source": "submission"}
                self._loaded = known.get(message["source"], "check" if CHECK in message["source"] else "known")
                self.sessions.append(f"loaded {self._loaded}")
                return {"ok": True}, {}
            case "cases":
                return {"ok": True}, {"cases": [{"x": np.float32([1])}]}
        if self._loaded == "check":
            self.asked.append(values["args"])
            return {"ok": True}, {"result": self._said()}
        return {"ok": True}, {"result": np.float32([2]) * (-1 if self._loaded == "submission" else 1), "observed": []}


def graded(tmp_path: Path, said: Callable[[], Any]) -> tuple[Verdict, Recorded]:
    package = package_with(tmp_path)
    sandbox = Recorded(package, said)
    return Judge(sandbox, b"s", tmp_path).judge(package, "the source"), sandbox


def test_it_runs_after_the_submission_on_what_crossed_the_wire(tmp_path: Path) -> None:
    verdict, sandbox = graded(tmp_path, lambda: None)
    assert (verdict.status, verdict.score) == ("accepted", 100)
    assert sandbox.sessions[-4:] == ["loaded submission", "closed submission", "loaded check", "closed check"]
    assert [list(args[0]) for args in sandbox.asked] == [["expected", "got"]] * 2


def test_what_it_says_is_shown_for_a_public_case_only(tmp_path: Path) -> None:
    verdict, _ = graded(tmp_path, lambda: "-2 is wrong.")
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", "wrong_value", 0)
    assert [case.message.splitlines()[0] for case in verdict.cases] == [
        "-2 is wrong.",
        "The problem's own check does not accept your result.",
    ]


def fault(reason: Any) -> Callable[[], Any]:
    def answer() -> Any:
        raise SubmissionFault(reason, "a secret")

    return answer


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (lambda: True, "failed"),
        (lambda: 0, "failed"),
        (fault("time_limit"), "failed"),
        (fault("killed"), "failed"),
        (fault("error"), "rejected"),
        (lambda: "", "rejected"),
    ],
    ids=["true", "number", "time", "killed", "exception", "empty"],
)
def test_it_fails_closed(tmp_path: Path, said: Callable[[], Any], status: str) -> None:
    verdict, _ = graded(tmp_path, said)
    assert verdict.status == status
    assert not verdict.score
    assert "a secret" not in verdict.model_dump_json()


@pytest.mark.parametrize(
    ("result", "status", "reason"),
    [
        ("-x - 1", "accepted", None),
        ("x + 2", "rejected", "wrong_value"),
        ("x * jnp.nan", "rejected", "wrong_value"),
        ("(x + 1)[None]", "rejected", "wrong_shape"),
        ("[x + 1]", "rejected", "wrong_structure"),
    ],
    ids=["other sign", "wrong", "exception", "shape", "structure"],
)
def test_behind_the_walls(judge: Judge, tmp_path: Path, result: str, status: str, reason: str | None) -> None:
    source = f"import jax.numpy as jnp\n\ndef add_one(x):\n    return {result}\n"
    verdict = judge.judge(package_with(tmp_path), source)
    assert (verdict.status, verdict.reason) == (status, reason)
    if result == "x + 2":
        assert " is wrong." in verdict.cases[0].message
