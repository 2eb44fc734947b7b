"""The real command line in a process of its own. Its grader executes nothing, its passwords are cheap, and its webhooks
reach nobody.

With STUCK in the environment, the grader never answers. With JUDGE_ANSWERS, the real judge draws and grades questions.
"""

import functools
import os
import threading
from typing import NoReturn

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

import app.entry.main
from app.core.data_folder import DataFolder
from app.core.outbound_requests import Outside
from app.core.settings import Settings
from app.entry.assembly import Grading, build_grading
from app.entry.cli.__main__ import main
from app.entry.main import create_app
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import Grader
from grader.answers.question_variants import Variants
from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.package.package import Package
from grader.verdicts.verdict import Verdict


class StuckGrader(NullGrader):
    """Ignores everything, even `stop`."""

    def judge(self, *args: object, **options: object) -> Verdict:  # type: ignore[override]
        threading.Event().wait()
        raise AssertionError("unreachable")


class AnswersJudged(NullGrader):
    """Leaves problems of mode `answer` to the real judge."""

    def __init__(self, judge: Grader) -> None:
        self._judge = judge

    def _of(self, package: Package) -> Grader:
        return self._judge if package.manifest.mode == "answer" else super()

    def judge(self, package: Package, source: str, *args: object, **options: object) -> Verdict:  # type: ignore[override]
        return self._of(package).judge(package, source, *args, **options)

    def inspect(self, *args: object, **options: object) -> NoReturn:  # type: ignore[override]
        """Compile nothing, so that a picture says that there is no program."""
        raise SubmissionFault("error", "nothing is compiled in this test")

    def prepare(self, package: Package, *args: object, **options: object) -> None:  # type: ignore[override]
        return self._of(package).prepare(package, *args, **options)

    def variants(self, package: Package, *args: Context) -> Variants | None:
        return self._of(package).variants(package, *args)

    def warm(self, package: Package) -> None:
        return self._of(package).warm(package)


async def reach_nobody(self: Outside, url: str, headers: dict[str, str], body: bytes) -> int:
    """Send nothing, because tests make up addresses, whose owners must not get anything."""
    raise OSError("nothing is sent in tests")


class Up:
    name, up, found, remedy = "namespaces", True, "", ""


def build(data: DataFolder, settings: Settings) -> Grading:
    if os.environ.get("JUDGE_ANSWERS"):
        real = build_grading(data, settings)
        return Grading(AnswersJudged(real.grader), real.probe, real.close, real.pool_stats, real.judge)
    return Grading(StuckGrader() if os.environ.get("STUCK") else NullGrader(), lambda: [Up()])


app.entry.main.create_app = functools.partial(create_app, grading=build)  # type: ignore[assignment]
# Make Argon2 cheap, because classes of forty sign up in tests. test_passwords.py checks the real cost.
cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
PasswordHash.recommended = lambda: cheap  # type: ignore[assignment, method-assign]
Outside.post = reach_nobody  # type: ignore[method-assign]
main()
