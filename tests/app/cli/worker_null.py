"""`meshgrade worker` with a grader that executes nothing: started by the tests as a process of its own."""

import functools
import os

import app.main
from app.cli.__main__ import main
from app.main import Grading, open_worker
from app.queue.null import NullGrader
from tests.app.conftest import WallState

wall = WallState(up=not os.environ.get("WALL_DOWN"))
app.main.open_worker = functools.partial(  # type: ignore[assignment]
    open_worker, grading=lambda data, settings: Grading(NullGrader(), lambda: [wall])
)
main()
