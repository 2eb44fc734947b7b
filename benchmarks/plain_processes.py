"""The baseline: the same cases in plain processes, with the environment of a runner."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.errors import BenchmarkFailed
from benchmarks.workload import CHECKOUT, Workload
from grader.sandbox.bubblewrap import runner_environment

_PROGRAM = Path(__file__).with_name("bare_calls.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process used: `wall_ms` from its start to its end, and `cpu_s` over all its threads."""

    wall_ms: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of many submissions at once: how many finish per second, and the CPU time of one."""

    per_s: float
    cpu_s: float


def run_fresh(workload: Workload, cache: Path | None = None) -> Cost:
    """Run the cases in a fresh Python, like a judge that spawns a process for each submission.

    Args:
      cache: a folder for JAX's persistent compilation cache; it keeps every program, however small.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        _command(workload), env=_variables(workload, cache), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read().decode(errors="replace")
    # Call `wait4` instead of `wait`, because it also returns the resources that the process used.
    _, status, usage = os.wait4(process.pid, 0)
    wall_ms = (time.perf_counter() - started) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchmarkFailed(f"the plain process ended with {process.returncode}:\n{said[-2000:]}")
    return Cost(wall_ms, usage.ru_utime + usage.ru_stime)


def run_many(workload: Workload, *, at_once: int, count: int) -> Rate:
    """Run `count` fresh processes, `at_once` side by side."""
    started = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        costs = list(threads.map(lambda _: run_fresh(workload), range(count)))
    return Rate(count / (time.perf_counter() - started), sum(cost.cpu_s for cost in costs) / count)


class WarmProcess:
    """One plain process that has already run the cases. What another run takes is a lower bound for any judge."""

    def __init__(self, workload: Workload) -> None:
        self._process = subprocess.Popen(
            [*_command(workload), "--stay"],
            env=_variables(workload, None),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self._read()

    def run(self) -> float:
        """Import the submission and run the cases once more. Returns milliseconds, as the process measures them."""
        assert self._process.stdin is not None
        self._process.stdin.write("again\n")
        return float(self._read())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkFailed(f"the warm plain process ended with {self._process.wait()}")
        return line


def _command(workload: Workload) -> list[str]:
    manifest = workload.package.manifest
    command = [sys.executable, str(_PROGRAM), str(workload.file), manifest.entry, str(workload.frames)]
    if manifest.mode == "program":
        command += ["--program", json.dumps(manifest.program.model_dump())]
    return command


def _variables(workload: Workload, cache: Path | None) -> dict[str, str]:
    variables = {**runner_environment(), "PYTHONPATH": str(CHECKOUT)}
    variables["XLA_FLAGS"] += f" --xla_force_host_platform_device_count={workload.package.manifest.devices}"
    if cache is not None:
        variables["JAX_COMPILATION_CACHE_DIR"] = str(cache)
        variables["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        variables["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    return variables
