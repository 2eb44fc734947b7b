"""The real command line with a grader that executes nothing: started by the tests as a process of its own."""

import functools
import os
import threading

import app.main
from app.cli.__main__ import main
from app.main import Grading, create_app
from app.queue.null import NullGrader
from grader.verdict import Verdict


class StuckGrader(NullGrader):
    """Heeds nothing, not even `stop`."""

    def judge(self, *args: object, **options: object) -> Verdict:  # type: ignore[override]
        threading.Event().wait()
        raise AssertionError("unreachable")


class Up:
    name, up, found, remedy = "namespaces", True, "", ""


grader = StuckGrader() if os.environ.get("STUCK") else NullGrader()
app.main.create_app = functools.partial(create_app, grading=lambda data, settings: Grading(grader, lambda: [Up()]))  # type: ignore[assignment]
main()
