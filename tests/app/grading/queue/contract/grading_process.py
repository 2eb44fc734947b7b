"""A process that grades for one of the two queues. Its grader follows words in the sources, and executes nothing.

It is forked from a server that has imported all of this once: importing it takes seconds each time.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from app.core import clock, migrate
from app.core.database import Database
from app.core.settings import load_settings
from app.entry.assembly import Grading, pick_events, pick_queue
from app.grading.queue import procrastinate_queue
from app.grading.queue.embedded_queue import EmbeddedQueue
from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.procrastinate_queue import ProcrastinateQueue
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.walls import Walls
from app.learning.lessons.models import LessonRunRow
from app.problems import package_store
from app.problems.package_store import PackageStore
from grader.core.context import QUIET
from grader.core.errors import Cancelled, GraderFault
from grader.package.fault import PackageInvalid, manifest_fault
from grader.verdicts.verdict import Verdict

_FORKSERVER = multiprocessing.get_context("forkserver")
_FORKSERVER.set_forkserver_preload([__name__])


class GradingProcess:
    """A grading process that has started, as the tests see it."""

    def __init__(self, log: Path, settings: dict[str, str]) -> None:
        self._ready, theirs = _FORKSERVER.Pipe(duplex=False)
        self._process = _FORKSERVER.Process(target=_grade, args=(log, settings, theirs), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def until_ready(self) -> None:
        async with asyncio.timeout(60):
            assert await asyncio.to_thread(self._ready.recv) == "grading"

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    async def wait(self) -> int | None:
        """Wait until the process has ended. Returns its exit code, negative for a signal."""
        await asyncio.to_thread(self._process.join)
        return self._process.exitcode


def _grade(log: Path, settings: dict[str, str], ready: Connection) -> None:
    for name in [name for name in os.environ if name.startswith("MESHGRADE_")]:
        del os.environ[name]
    behave_as(settings)
    os.environ |= {f"MESHGRADE_{name.upper()}": value for name, value in settings.items()}
    asyncio.run(_work(log, lambda: ready.send("grading")))


def behave_as(settings: dict[str, str]) -> None:
    """Make this process faulty: of the `previous` version, or with a clock that is `ahead_s` seconds ahead."""
    if settings.pop("previous", None):
        # Know only a revision that the newest schema does not claim to work with.
        known = frozenset({"0001"})
        migrate.known_revisions = lambda: known  # type: ignore[assignment]
        package_store.package_of = _does_not_know_the_key  # type: ignore[assignment]
        # Check often whether it may grade again.
        procrastinate_queue._WALLS_AGAIN_S = 0.5
    if ahead_s := settings.pop("ahead_s", None):

        def ahead() -> datetime:
            return datetime.now(UTC) + timedelta(seconds=float(ahead_s))

        for module in [each for name, each in sys.modules.items() if name.startswith("app.")]:
            if getattr(module, "now", None) is clock.now:
                module.now = ahead  # type: ignore[attr-defined]


def _does_not_know_the_key(*args: object, **options: object) -> None:
    raise PackageInvalid("add_one", [manifest_fault("manifest", None, "unknown key 'added_since'")])


class ToldGrader(NullGrader):
    """Does what a source says: `take SECONDS NAME`, `ignore SECONDS NAME` (and every stop), `hold 0 NAME` (until the
    test releases it), `fail TIMES NAME`, `die NAME`.

    A verdict's `stdout` is the id of the process that gave it.
    """

    def __init__(self, log: Path) -> None:
        self._log = log

    def note(self, what: str, source: str) -> None:
        """Write a line in one write, because processes share the file."""
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{what} {os.getpid()} {time.time()} {source}\n".encode())
        os.close(descriptor)

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None) -> Verdict:  # type: ignore[no-untyped-def]
        self.note("began", source)
        word, number = source.split()[:2]
        if word == "die":
            os._exit(9)
        if word == "fail" and self._log.read_text().count(source) <= int(number):
            raise GraderFault("as told")
        if word == "ignore":
            time.sleep(float(number))
        while word == "hold" and not self._log.with_name("released").exists():
            time.sleep(0.02)
        if word == "take" and context.stop.wait(float(number)):
            raise Cancelled("stopped")
        self.note("ended", source)
        verdict = super().judge(package, source, context, hidden=hidden)
        return verdict.model_copy(update={"stdout": str(os.getpid())})

    async def run(self, job: Job[LessonRunRow]) -> None:
        """Do the other kind of work of the process, whose sources are `take SECONDS NAME`."""
        source = job.row.source
        self.note("began", source)
        if await job.call(lambda: not job.context.stop.wait(float(source.split()[1])), lambda _: False):
            self.note("ended", source)
            await job.finish(result={})


def _note_looks_in_vain(queue: GradeQueue, grader: ToldGrader) -> None:
    assert isinstance(queue, EmbeddedQueue | ProcrastinateQueue)
    assert queue._slots is not None
    take = queue._slots.take

    async def noted(*, long: bool) -> object:
        taken = await take(long=long)
        if taken is None:
            grader.note("looked", "-")
        return taken

    queue._slots.take = noted  # type: ignore[method-assign]


class Up:
    name, up, found, remedy = "namespaces", True, "", ""


async def _work(log: Path, say_ready: Callable[[], None]) -> None:
    settings = load_settings()
    database = Database(settings.database)
    walls = Walls(lambda: [Up()])
    walls.probe()
    events = pick_events(database, load_settings())
    grader = ToldGrader(log)
    built = Grading(grader, lambda: [Up()])
    jobs = [Jobs(LessonRunRow, grader.run)]
    queue = pick_queue(database, built, PackageStore(database), walls, events, settings, jobs)
    _note_looks_in_vain(queue, grader)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    tasks = [asyncio.create_task(each) for each in (queue.work(), *(loop.run() for loop in events.loops))]
    say_ready()
    await end.wait()
    stopping = asyncio.create_task(queue.stop(grace_s=settings.drain_s))
    # Let it take its first step, after which no slot takes anything more.
    await asyncio.sleep(0)
    grader.note("draining", "-")
    await stopping
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await database.close()
