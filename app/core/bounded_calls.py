"""Calls pure functions on people's texts in separate processes, each call with a limit of CPU time and memory. This is
for parsers that are not known to be linear: if a text takes them minutes, its sender gets no result, and nobody else
waits. A process serves one call after another until a call exceeds a limit, which ends the process; the next call
starts another one. Processes end with the service, because they read their orders from a pipe.

Arguments and results are JSON: a process that has read a hostile text is trusted to return data only.
"""

import asyncio
import contextlib
import importlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any

_ROOT = Path(__file__).parents[2]
_PROCESSES = 2
_MEMORY_BYTES = 2 << 30
_LONGEST_RESULT = 64 << 20
_LENGTH_BYTES = 8
_END_S = 2.0
_START = "import sys; sys.path.insert(0, sys.argv[1]); from app.core.bounded_calls import serve; serve()"


class LimitExceeded(Exception):
    """The call was ended. The message says which limit it exceeded, as the end of a sentence."""


class BoundedCallFailed(Exception):
    """The function raised an error, which is a fault of this service."""


class Processes:
    """A number of processes, for calls that wait for each other and for no other ones.

    Args:
      name: of the threads that wait for the processes.
    """

    def __init__(self, count: int, name: str) -> None:
        # Each thread uses one process at a time.
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._idle: list[subprocess.Popen[bytes]] = []

    async def call(self, function: Callable[..., Any], *arguments: Any, cpu_s: int) -> Any:
        """As `bounded`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(_call, self._idle, function, arguments, cpu_s))

    def call_in_thread(self, function: Callable[..., Any], *arguments: Any, cpu_s: int) -> Any:
        """As `bounded`, for a thread that may wait."""
        return self._threads.submit(_call, self._idle, function, arguments, cpu_s).result()

    def end_idle(self) -> None:
        """End the idle processes. The next call starts another one."""
        while self._idle:
            _end(self._idle.pop())


async def bounded(function: Callable[..., Any], *arguments: Any, cpu_s: int) -> Any:
    """Call a function of a module of this service with JSON, and return its result as JSON.

    Args:
      cpu_s: CPU time after which the call is ended, counted in whole seconds.
    Raises:
      LimitExceeded: it took too much time or memory.
    """
    return await _shared.call(function, *arguments, cpu_s=cpu_s)


def bounded_in_thread(function: Callable[..., Any], *arguments: Any, cpu_s: int) -> Any:
    """As `bounded`, for a thread that may wait."""
    return _shared.call_in_thread(function, *arguments, cpu_s=cpu_s)


def end_processes() -> None:
    """End the idle processes of `bounded`. The next call starts another one."""
    _shared.end_idle()


# For everything that has no processes of its own.
_shared = Processes(_PROCESSES, "bounded")


def _call(
    idle: list[subprocess.Popen[bytes]], function: Callable[..., Any], arguments: tuple[Any, ...], cpu_s: int
) -> Any:
    name = f"{function.__module__}:{function.__qualname__}"
    order = json.dumps({"function": name, "arguments": arguments, "cpu_s": cpu_s}).encode()
    process = _take(idle)
    assert process.stdin is not None
    assert process.stdout is not None
    answer = None
    try:
        # If the process has ended, there is no answer.
        with contextlib.suppress(BrokenPipeError):
            _write(process.stdin, order)
        answer = _read(process.stdout)
    finally:
        if answer is None:
            status = _end(process)
    if answer is None:
        if status == -signal.SIGXCPU:
            raise LimitExceeded(f"takes over {cpu_s} s of CPU time")
        if status < 0:
            raise LimitExceeded(f"ends the process that reads it, with {signal.Signals(-status).name}")
        raise BoundedCallFailed(f"{name} ended its process with status {status}")
    idle.append(process)
    result = json.loads(answer)
    if "exceeded" in result:
        raise LimitExceeded(result["exceeded"])
    if "error" in result:
        raise BoundedCallFailed(f"{name} failed: {result['error']}")
    return result["value"]


def _take(idle: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    while True:
        try:
            process = idle.pop()
        except IndexError:
            break
        if process.poll() is None:
            return process
        _end(process)
    options = ["-I", "-B", *(["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else [])]
    return subprocess.Popen(
        [sys.executable, *options, "-c", _START, str(_ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},  # no secret of the service
    )


def _end(process: subprocess.Popen[bytes]) -> int:
    """Its exit status. A process ends by itself soon after its pipes are closed, unless a call still runs."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    try:
        return process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    """None at the end of the pipe."""
    length = int.from_bytes(pipe.read(_LENGTH_BYTES), "big")
    data = pipe.read(length)
    return data if length and len(data) == length else None


def serve() -> None:
    """The main function of a process: it answers one order after another until its service ends."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a library prints must not become a part of an answer.
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    while (order := _read(orders)) is not None:
        _write(answers, json.dumps(_answer(**json.loads(order))).encode())


def _answer(function: str, arguments: list[Any], cpu_s: int) -> dict[str, Any]:
    module, _, name = function.partition(":")
    called = getattr(importlib.import_module(module), name)
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(used.ru_utime + used.ru_stime) + cpu_s
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
    try:
        value = called(*arguments)
        if len(json.dumps(value)) > _LONGEST_RESULT:
            return {"exceeded": f"becomes more than {_LONGEST_RESULT >> 20} MiB"}
    except MemoryError:
        return {"exceeded": f"takes over {_MEMORY_BYTES >> 30} GiB of memory"}
    except RecursionError:
        return {"exceeded": "is nested too deeply"}
    except Exception as error:  # whatever it is, the caller learns of it
        return {"error": f"{type(error).__name__}: {error}"}
    return {"value": value}
