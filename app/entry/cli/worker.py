"""`meshgrade worker`: grades on another machine until a signal ends it."""

import asyncio
import gc
import signal
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.entry.cli.process_exit import exit_in_time

if TYPE_CHECKING:
    from app.core.settings import Settings

_REMEDY = "Set MESHGRADE_DATABASE_URL to the server's PostgreSQL, such as postgresql://user:password@host/meshgrade."
HELP = "Grade for a server on another machine. Requires only MESHGRADE_DATABASE_URL."


def worker(
    data: Annotated[Path | None, typer.Option(help="Folder for caches. Default: a temporary one.")] = None,
) -> None:
    from app.core.settings import load_settings
    from app.operations.operating.logs import set_up_logs

    settings = load_settings()
    _require_postgresql(settings)
    set_up_logs(settings.log_format, settings.log_level)
    signal.signal(signal.SIGTERM, _interrupt)
    with nullcontext(str(data)) if data else tempfile.TemporaryDirectory(prefix="meshgrade-worker-") as folder:
        asyncio.run(_work(settings, Path(folder)))
    sys.stdout.flush()


def _require_postgresql(settings: "Settings") -> None:
    from app.core.database import Database
    from app.core.start_errors import StartRefused

    if settings.database_url is None:
        raise StartRefused("a worker needs the server's database.", _REMEDY)
    # Creating it opens no connection yet, but refuses a wrong database URL.
    if not Database(settings.database).shared:
        raise StartRefused(
            "a worker cannot share a SQLite database, because only the processes of one machine can use it.", _REMEDY
        )
    if settings.grading_slots == 0:
        raise StartRefused("a worker with 0 grading slots would grade nothing.", "Unset MESHGRADE_GRADING_SLOTS.")


async def _work(settings: "Settings", folder: Path) -> None:
    from app.entry.worker import open_worker

    end = asyncio.Event()
    async with open_worker(settings, folder, say=_say):
        # As in `meshgrade serve`, Python need not visit again what exists by now.
        gc.freeze()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end.set)
        _say(f"Grading {settings.grading_slots} at a time. Ctrl-C or SIGTERM ends it after what it is grading.")
        await end.wait()
        _say(f"Stopping: running attempts have {settings.drain_s:g} s to finish.")
    exit_in_time()


def _say(line: str) -> None:
    # In one call: several threads prepare problems, and `print` writes the end of a line separately.
    print(f"{line}\n", end="", flush=True)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
