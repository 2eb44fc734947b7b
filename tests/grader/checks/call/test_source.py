"""Names that a problem forbids: what the check says, what a manifest may name, and the verdict of the judge."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.checks.call import source
from grader.checks.call_outcome import CallSubject
from grader.checks.finding import Finding
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.package.fault import PackageInvalid
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.evidence import Facts

ADD_ONE = Path(__file__).parents[2] / "packages" / "add_one"
BOUNDS = source.Bounds(
    forbidden=[
        source.ForbiddenNames(names=["jnp.sort", "numpy"], why="Write the network yourself."),
        source.ForbiddenNames(names=["sorted"], why="It leaves the device."),
    ]
)


def finding_of(text: str) -> Finding:
    return source.check(CallSubject([], {}, text), BOUNDS)


def test_a_use_is_named_with_its_line_and_why_it_is_forbidden() -> None:
    finding = finding_of("import jax.numpy as J\n\ndef f(x):\n    return J.sort(sorted(x))\n")
    assert (finding.passed, finding.reason) == (False, "wrong_structure")
    assert finding.message.splitlines() == [
        "Observed in the source: line 4 uses `J.sort`, which is `jax.numpy.sort` (`jnp.sort` is forbidden). "
        "Write the network yourself.",
        "Observed in the source: line 4 uses `sorted`. It leaves the device.",
    ]
    assert finding.evidence == [Facts(about="forbidden names in the source", values={"line 4": "J.sort"})]


def test_a_source_without_them_passes_and_is_not_called_proven() -> None:
    finding = finding_of("import jax.numpy as jnp\n\ndef f(x):\n    return getattr(jnp, 'sort')(x)\n")
    assert finding.passed
    assert finding.message == "The source uses no forbidden name. This was observed in its text, and is not a proof."


@pytest.mark.parametrize("text", ["x = " + "-" * 3000 + "1", "def"], ids=["deep", "no Python"])
def test_a_source_that_cannot_be_read_does_not_pass(text: str) -> None:
    assert not finding_of(text).passed


CHECKS = """points = 60

[[checks]]
id = "source"
points = 40

[[checks.forbidden]]
names = ["NAME"]
why = "Add by hand."
"""


def folder_with(tmp_path: Path, name: str) -> Path:
    folder = Path(shutil.copytree(ADD_ONE, tmp_path / "add_one"))
    manifest = folder / "problem.toml"
    manifest.write_text(manifest.read_text().replace("points = 100\n", CHECKS.replace("NAME", name)))
    return folder


@pytest.mark.parametrize("name", ["jnpp.add", "sorte"])
def test_a_name_of_no_module_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PackageInvalid, match=f"there is no module '{name.partition('.')[0]}'"):
        read_package(folder_with(tmp_path, name))


@pytest.mark.parametrize(
    ("text", "score"),
    [("from jax import numpy as n\nn.add", 60), ("import jax", 100)],
    ids=["used", "not used"],
)
def test_the_judge_reads_the_source_of_the_submission(tmp_path: Path, text: str, score: int) -> None:
    def answer(message: dict[str, Any], values: dict[str, Any]) -> Frame:
        replies = {"load": {}, "cases": {"cases": [{"x": np.ones(2, np.float32)}]}}
        return {"ok": True}, replies.get(message["op"], {"result": np.ones(2, np.float32), "observed": []})

    judge = Judge(NullSandbox(answer), b"s", tmp_path)
    verdict = judge.judge(read_package(folder_with(tmp_path, "jnp.add")), text)
    assert verdict.score == score
    assert [check.trust for check in verdict.checks] == ["verified", "observed"]
