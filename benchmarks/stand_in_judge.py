"""The command line with a stand-in for the judge, which needs no sandbox but uses as much of a core as grading does.

Use it to measure everything around grading quickly. It never executes a submission: it waits for `STAND_IN_WAIT_S`
seconds, lets a child process compute for `STAND_IN_CPU_S` seconds, and compares the text with that of the reference.
With `STAND_IN_STATEMENTS`, a file of eight bytes, it keeps the number of statements that the database received there.
"""

import functools
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import Engine, event

import app.entry.main
import app.entry.worker
from app.core.data_folder import DataFolder
from app.core.settings import Settings
from app.entry.assembly import Grading
from app.entry.cli.__main__ import main
from app.entry.main import create_app
from app.entry.worker import open_worker
from app.grading.queue.null_grader import NullGrader
from grader.package.package import Package
from grader.verdicts.verdict import Verdict

_CPU_S = os.environ.get("STAND_IN_CPU_S", "0.1")
_WAIT_S = float(os.environ.get("STAND_IN_WAIT_S", "0"))
_COUNT = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"


class BusyGrader(NullGrader):
    def judge(self, package: Package, source: str, *args: object, **options: object) -> Verdict:  # type: ignore[override]
        time.sleep(_WAIT_S)
        subprocess.run(["nice", "-n", "5", sys.executable, "-S", "-E", "-c", _COUNT, _CPU_S], check=True)
        # A benchmark makes its submissions differ by empty lines.
        return super().judge(package, source.lstrip("\n"), *args, **options)  # type: ignore[arg-type]


class NoWall:
    name, up, found, remedy = "none: nothing is executed", True, "", ""


def _count_statements(file: Path) -> None:
    with file.open("r+b") as opened:
        kept = mmap.mmap(opened.fileno(), 8)

    def count(*_: object) -> None:
        kept[:] = (int.from_bytes(kept[:], "little") + 1).to_bytes(8, "little")

    event.listen(Engine, "before_cursor_execute", count)


def _build(data: DataFolder, settings: Settings) -> Grading:
    return Grading(BusyGrader(), lambda: [NoWall()])


if __name__ == "__main__":
    app.entry.main.create_app = functools.partial(create_app, grading=_build)  # type: ignore[assignment]
    if counted := os.environ.get("STAND_IN_STATEMENTS"):
        _count_statements(Path(counted))
    app.entry.worker.open_worker = functools.partial(open_worker, grading=_build)
    main()
