"""Cache the programs that warm-ups compiled, so that later warm-ups only load them.

The programs come from a fork that ran only a package's public warmup.py, as bytes over the wire, and go into other
forks the same way. No sandbox can write to their folder, and a submission's sandbox never adds one, because loading a
compiled program means executing it.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.core import wire
from grader.package.package import Limits
from grader.sandbox.protocol import Warmup
from grader.sandbox.session import ForkSession

_MAX_BYTES = 1 << 30
Programs = dict[str, object]


class CompiledPrograms:
    """Compiled programs by number of devices and warm-up, in memory and on disk. Threads may share one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs: dict[str, Programs] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def ensure(self, devices: int, warmup: Warmup, limits: Limits, fork: Callable[[], ForkSession]) -> None:
        """Compile the programs of a warm-up in a new fork, unless they exist.

        Raises:
          GraderFault: the warm-up failed, or exceeded `limits`.
        """
        key = _key(devices, warmup)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if self._kept(key) is not None:
                return
            with fork() as session:
                request = {"op": "warm", "source": warmup.source, "collect": True}
                _, values = session.warm(request, {"entries": {}}, limits)
            programs = _checked(values.get("entries"))
            _store(self._path(key), programs)
            self._programs[key] = programs

    def warm(self, session: ForkSession, devices: int, warmup: Warmup, limits: Limits) -> int:
        """Run the warm-up in a fork that has its programs; return how many it still had to compile.

        Raises:
          GraderFault: the warm-up failed, or exceeded `limits`.
        """
        request = {"op": "warm", "source": warmup.source, "collect": False}
        _, values = session.warm(request, {"entries": self._programs[_key(devices, warmup)]}, limits)
        misses = values.get("misses")
        return misses if isinstance(misses, int) else 0

    def has(self, devices: int, warmup: Warmup) -> bool:
        """Whether the programs of a warm-up are cached, so that no runner has to compile them."""
        return self._kept(_key(devices, warmup)) is not None

    def lend(self, session: ForkSession, devices: int, warmup: Warmup) -> None:
        """Send the programs to a fork that was not warmed, so that it need not compile them."""
        programs = self._kept(_key(devices, warmup))
        if programs is not None:
            session.ask({"op": "warm", "source": "", "collect": False}, {"entries": programs})

    def _kept(self, key: str) -> Programs | None:
        """The programs from memory or, if they are not there, from disk."""
        if key not in self._programs and (programs := _load(self._path(key))) is not None:
            self._programs[key] = programs
        return self._programs.get(key)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.frame"


@functools.lru_cache(maxsize=256)
def _key(devices: int, warmup: Warmup) -> str:
    """A hash of everything that compiled code depends on, including the processor's features."""
    versions = [f"{name}={importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "flax", "optax")]
    flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    options = json.dumps(COMPILER_OPTIONS, sort_keys=True)
    parts = [str(devices), warmup.version, warmup.source, *versions, options, flags, os.uname().machine]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _checked(entries: object) -> Programs:
    if not isinstance(entries, dict):
        return {}
    return {name: entry for name, entry in entries.items() if isinstance(entry, np.ndarray) and entry.dtype == np.uint8}


def _load(path: Path) -> Programs | None:
    try:
        with path.open("rb") as file:
            return _checked(wire.read_frame(file, max_payload_bytes=_MAX_BYTES)[1].get("entries"))
    except (FileNotFoundError, EOFError, wire.BadFrame):
        return None


def _store(path: Path, programs: Programs) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    draft.write_bytes(wire.pack({}, {"entries": programs}))
    draft.replace(path)
