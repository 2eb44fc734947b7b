"""`meshgrade worker` with a grader that executes nothing: started by the tests as a process of its own."""

import functools
import os

import app.entry.worker
from app.entry.assembly import Grading
from app.entry.cli.__main__ import main
from app.entry.worker import open_worker
from app.grading.queue.null_grader import NullGrader


class Wall:
    """Like `WallState` of tests/app/conftest.py, which would import the whole service."""

    name, up = "namespaces", not os.environ.get("WALL_DOWN")
    found, remedy = "bubblewrap is not installed", "apt-get install bubblewrap"


app.entry.worker.open_worker = functools.partial(  # type: ignore[assignment]
    open_worker, grading=lambda data, settings: Grading(NullGrader(), lambda: [Wall()])
)
main()
