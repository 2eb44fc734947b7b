"""What golden verdicts share: a made-up package, and a judge with a sandbox that runs nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader import checks
from grader.core.context import NEVER, QUIET, Stop
from grader.mistakes.known_mistakes import KnownMistakes
from grader.modes import Modes
from grader.modes.mode import GradingRequest, Prepared
from grader.modes.report import Report
from grader.package.package import MANIFEST, Package
from grader.sandbox.null_sandbox import NullSandbox, NullSession
from grader.sandbox.protocol import RunnerSpec
from grader.verdicts.verdict import Mode, Verdict
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR

Scenario = Callable[[], Verdict]
Groups = dict[str, dict[str, Scenario]]


def package_of(mode: Mode, specs: Sequence[dict[str, Any]]) -> Package:
    others = [check for check in specs if check["id"] != "values"]
    points = [100 - 10 * len(others)] + [10] * len(others)
    manifest = {
        "schema_version": 1,
        "uuid": "00000000-0000-4000-8000-000000000000",
        "slug": "golden",
        "title": "Golden",
        "summary": "made up",
        "track": "none",
        "difficulty": "easy",
        "mode": mode,
        "entry": "step",
        "checks": [{"points": worth} | check for worth, check in zip(points, [{"id": "values"}, *others], strict=True)],
        "authors": ["nobody"],
        "licence": "Apache-2.0",
    }
    if mode == "program":
        groups = {"params": ["w"]}
        manifest["program"] = {
            "init": "init",
            "steps": 2,
            "meshes": [EIGHT, FOUR],
            "inputs": {"x": ["x"]},
            "groups": groups,
        }
    read = MANIFEST.validate_python(manifest)
    for check in read.checks:
        check.read_bounds(checks.load(mode, check.id).Bounds)
    return Package(read, "v", "", (), "", "", "", "", (), ())


class Quiet(NullSandbox):
    """A sandbox whose sessions report no environment."""

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> NullSession:
        session = super().open(spec, stop)
        session.environment = {}
        return session


class Known(KnownMistakes):
    """Explains every submission alike."""

    def __init__(self, package: Package, misconception: str | None) -> None:
        super().__init__(package, "source")
        self._misconception = misconception

    def explain(self, *_: object, **__: object) -> str | None:
        return self._misconception


def verdict_of(
    sandbox: NullSandbox,
    package: Package,
    prepared: Prepared,
    misconception: str | None,
    *,
    hidden: bool,
    source: str = "source",
) -> Verdict:
    report = Report(package, hidden=hidden, walls=("seccomp",))
    request = GradingRequest(source, hidden, None, Known(package, misconception), report, QUIET)
    return Modes(sandbox, b"secret").of(package).begin(prepared, request).grade()


def array(*numbers: float) -> np.ndarray[Any, Any]:
    return np.asarray(numbers, np.float32)
