"""The real command line with a grader that executes nothing, and webhooks that reach nobody: a process of its own."""

import functools
import os
import threading

import app.entry.main
from app.core.outbound_requests import Outside
from app.entry.assembly import Grading
from app.entry.cli.__main__ import main
from app.entry.main import create_app
from app.grading.queue.null_grader import NullGrader
from grader.verdicts.verdict import Verdict


class StuckGrader(NullGrader):
    """Ignores everything, even `stop`."""

    def judge(self, *args: object, **options: object) -> Verdict:  # type: ignore[override]
        threading.Event().wait()
        raise AssertionError("unreachable")


async def reach_nobody(self: Outside, url: str, headers: dict[str, str], body: bytes) -> int:
    """Tests make up addresses, and must not send anything to their owners."""
    raise OSError("nothing is sent in tests")


class Up:
    name, up, found, remedy = "namespaces", True, "", ""


grader = StuckGrader() if os.environ.get("STUCK") else NullGrader()
app.entry.main.create_app = functools.partial(
    create_app, grading=lambda data, settings: Grading(grader, lambda: [Up()])
)  # type: ignore[assignment]
Outside.post = reach_nobody  # type: ignore[method-assign]
main()
