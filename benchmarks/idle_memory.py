"""Measure a server's memory by kind of process: while it prepares its problems after a first start, and at rest.

Usage: python -m benchmarks.idle_memory [--problems N] [--rest SECONDS] [--pool]

With `--pool`, no server starts. In half a minute, this shows what a pool alone holds, and what remains of it at rest.
Memory is PSS: resident pages, each shared one divided by the number of processes that share it.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from benchmarks.processes import pss_mb, pss_mb_of
from benchmarks.server import Server
from benchmarks.workload import CHECKOUT
from grader.core.errors import MeshgradeError
from grader.package.package import Limits
from grader.sandbox import pool
from grader.sandbox.build import build_sandbox
from grader.sandbox.pool import PoolSettings
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.usage import descendants

_LOOK_S = 2.0
_LIMIT_S = 1800.0
# Five minutes after the last submission, a pool ends the forks that only further submissions would need.
_REST_S = 330.0
# The numbers of devices that shipped problems need, the rarest first, and how many verifiers of each are lent at once.
_DEVICES, _AT_ONCE = (7, 6, 1, 4, 8), 2
# At rest, two runners and two verifiers are left.
_LEFT = 2 * pool._RESTING_GENERIC
_LIMITS = Limits(time_s=20.0, wall_s=60.0, memory_mb=1024)
_ZYGOTE = "/opt/meshgrade/grader/forks/zygote.py"
# Commands inside the sandbox begin with this. Bubblewrap's command line also names the zygote.
_INSIDE = "/opt/meshgrade/venv/bin/"


def memory_mb(root: int) -> Counter[str]:
    """The memory of a service's processes, by kind."""
    found: Counter[str] = Counter()
    has_zygote = False
    for pid in descendants(root):
        kind = "service" if pid == root else "others"
        command = _command(pid)
        if command.startswith(_INSIDE) and _ZYGOTE in command:
            # Each fork is a descendant of the zygote, so it comes after it.
            kind = "forks" if has_zygote else "zygote"
            has_zygote = True
        found[kind] += pss_mb_of(pid)  # type: ignore[assignment]
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


class _Peak:
    """The most memory that a service has held, watched by a thread."""

    def __init__(self, root: int) -> None:
        self.mb: Counter[str] = Counter()
        self._root = root
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "_Peak":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            now = memory_mb(self._root)
            if now.total() > self.mb.total():
                self.mb = now


def measure(problems: int, rest_s: float) -> None:
    """Measure a server's memory. Raises `BenchmarkFailed` if it does not start."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-idle-memory-") as made:
        folder = Path(made)
        for path in sorted((CHECKOUT / "problems").glob("*/problem.toml"))[:problems]:
            shutil.copytree(path.parent, folder / "problems" / path.parent.name)
        began = time.monotonic()
        with Server(folder / "data", folder / "problems", "", _quiet, start_limit_s=_LIMIT_S) as server:
            with _Peak(server.pid) as peak:
                server.wait_for("prepared", _quiet)
            _say(f"the most until all is prepared, {time.monotonic() - began:.0f} s after the start", peak.mb)
            _say("then", memory_mb(server.pid))
            time.sleep(rest_s)
            _say(f"{rest_s:.0f} s later", memory_mb(server.pid))


def measure_pool() -> None:
    """Measure a pool after requests for runners and verifiers with each number of devices that problems need."""
    settings = PoolSettings(generic=1, per_problem=0, problems=1, fillers=2)
    with tempfile.TemporaryDirectory() as made, build_sandbox(Path(made), settings=settings) as sandbox:
        for devices in _DEVICES:
            sandbox.warm(RunnerSpec(devices, _LIMITS))
            with ExitStack() as lent:
                for _ in range(_AT_ONCE):
                    lent.enter_context(sandbox.verifier(devices, _LIMITS, fresh=True))
        while not sandbox.stats().full:
            time.sleep(_LOOK_S)
        print(f"the pool and {_AT_ONCE * len(_DEVICES)} idle verifiers: {_below_mb():,.0f} MB", flush=True)
        # The pool compares the time since the last submission with this.
        pool._SPARE_S = 0.0
        while not sandbox.stats().full or sandbox.stats().generic > _LEFT:
            time.sleep(_LOOK_S)
        time.sleep(_LOOK_S)
        print(f"the pool at rest: {_below_mb():,.0f} MB", flush=True)


def _below_mb() -> float:
    """The memory of all processes that this one has started."""
    return pss_mb(os.getpid()) - pss_mb_of(os.getpid())


def _say(when: str, mb: Counter[str]) -> None:
    parts = ", ".join(f"{kind} {each:,.0f}" for kind, each in mb.most_common())
    print(f"{when}: {mb.total():,.0f} MB ({parts})", flush=True)


def _quiet(line: str) -> None:
    """Do nothing, instead of printing every step of each problem."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idle_memory")
    parser.add_argument("--problems", type=int, default=10_000, help="at most this many of the shipped ones")
    parser.add_argument("--rest", type=float, default=_REST_S, help="seconds to wait before the last reading")
    parser.add_argument("--pool", action="store_true", help="only what a pool holds, without a server")
    asked = parser.parse_args()
    if asked.problems < 1 or asked.rest < 0:
        parser.error("--problems must be at least 1, and --rest not negative")
    if asked.pool:
        measure_pool()
    else:
        measure(asked.problems, asked.rest)


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
