"""Measure units in parallel, in processes that share what they import and compile."""

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.import_closure import CHECKOUT
from tests.problems.on_8_devices import environment_of
from tests.prove.kind import Kind

Job = tuple[Kind, str]


@dataclass(frozen=True)
class Outcome:
    """What was measured of a unit, or the log of why it could not be."""

    kind: Kind
    unit: str
    seconds: float
    result: Any = None
    failure: str = ""


class MeasuringFailed(Exception):
    """The message is the log."""


def measure(jobs: Sequence[Job], processes: int = 1) -> Iterator[Outcome]:
    """Measure units, and return each as soon as it is done. The order of `jobs` decides which begin first."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-prove-") as folder:
        waiting: SimpleQueue[Job] = SimpleQueue()
        for job in jobs:
            waiting.put(job)
        done: SimpleQueue[Outcome] = SimpleQueue()
        stop = threading.Event()
        threads = [
            threading.Thread(target=_work, args=(waiting, done, stop, Path(folder), number), daemon=True)
            for number in range(min(processes, len(jobs)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in jobs:
                yield done.get()
        finally:
            stop.set()
            for thread in threads:
                thread.join()


def _work(
    waiting: SimpleQueue[Job], done: SimpleQueue[Outcome], stop: threading.Event, folder: Path, number: int
) -> None:
    worker: _Worker | None = None
    with contextlib.ExitStack() as stack:
        while not stop.is_set():
            try:
                kind, unit = waiting.get_nowait()
            except Empty:
                return
            if worker is None or worker.program != kind.program:
                stack.close()
                worker = stack.enter_context(_Worker(kind.program, folder, number))
            began = time.monotonic()
            try:
                result, failure = worker.measure(unit), ""
            except MeasuringFailed as error:
                result, failure = None, str(error)
                # Its process may have ended.
                worker = None
            done.put(Outcome(kind, unit, time.monotonic() - began, result, failure))


@dataclass
class _Worker:
    """A process that measures units of one program."""

    program: str
    folder: Path
    number: int
    _process: "subprocess.Popen[str] | None" = field(default=None, init=False)

    def __enter__(self) -> "_Worker":
        module = self.program.removesuffix(".py").replace("/", ".")
        environment = environment_of(8, str(self.folder / "compiled")) | {"TMPDIR": str(self.folder)}
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.prove.worker", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=CHECKOUT,
                env=environment,
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()

    def measure(self, unit: str) -> Any:
        """Measure a unit. Raises `MeasuringFailed`."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output = self.folder / f"result-{self.number}.json"
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([unit, str(output)]) + "\n")
            self._process.stdin.flush()
        if self._process.stdout.readline().strip() != "done":
            log = self._log.read_text(encoding="utf-8", errors="replace")[-4000:]
            raise MeasuringFailed(log or "Its process ended without a word.")
        return json.loads(output.read_text(encoding="utf-8"))

    @property
    def _log(self) -> Path:
        return self.folder / f"log-{self.number}.txt"
