"""A process that grades for one of the two queues, with a grader that does as its sources say and executes nothing."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from app.database import Database
from app.main import Grading, pick_events, pick_queue
from app.problems.store import PackageStore
from app.queue.null import NullGrader
from app.queue.walls import Walls
from app.settings import load_settings
from grader.context import QUIET
from grader.errors import Cancelled, GraderFault
from grader.verdict import Verdict

LOG = Path(sys.argv[1])


def note(what: str, source: str) -> None:
    """One write of one line: two processes share the file."""
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{what} {os.getpid()} {time.time()} {source}\n".encode())
    os.close(descriptor)


class ToldGrader(NullGrader):
    """Sources: `take SECONDS NAME`, `ignore SECONDS NAME` (and every stop), `fail TIMES NAME`, `die NAME`.

    A verdict's `stdout` is the id of the process that gave it.
    """

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None) -> Verdict:  # type: ignore[no-untyped-def]
        note("began", source)
        word, number = source.split()[:2]
        if word == "die":
            os._exit(9)
        if word == "fail" and LOG.read_text().count(source) <= int(number):
            raise GraderFault("as told")
        if word == "ignore":
            time.sleep(float(number))
        if word == "take" and context.stop.wait(float(number)):
            raise Cancelled("stopped")
        note("ended", source)
        verdict = super().judge(package, source, context, hidden=hidden)
        return verdict.model_copy(update={"stdout": str(os.getpid())})


class Up:
    name, up, found, remedy = "namespaces", True, "", ""


async def main() -> None:
    settings = load_settings()
    database = Database(settings.database)
    walls = Walls(lambda: [Up()])
    walls.probe()
    events = pick_events(database, load_settings())
    built = Grading(ToldGrader(), lambda: [Up()])
    queue = pick_queue(database, built, PackageStore(database), walls, events, settings)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    tasks = [asyncio.create_task(each) for each in (queue.work(), events.run())]
    print("grading", flush=True)
    await end.wait()
    await queue.stop(grace_s=settings.drain_s)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await database.close()


asyncio.run(main())
