"""Build a sandbox: its walls, its zygote and its pool."""

import ctypes
import os
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Self

from grader.confined.confine import Confinement
from grader.core.chips import compiler_of
from grader.core.context import NEVER, Stop
from grader.core.errors import LostRunner
from grader.package.ceiling import Ceiling
from grader.package.package import Limits
from grader.sandbox.bubblewrap import (
    INSIDE,
    bubblewrap_command,
    readable_paths,
    runner_environment,
    writable_paths,
    zygote_command,
)
from grader.sandbox.cgroup import Cgroups
from grader.sandbox.compiled_programs import CompiledPrograms
from grader.sandbox.own_limits import OPEN_FILES, SCRATCH_BYTES, most_tasks
from grader.sandbox.pool import Pool, PoolSettings, PoolStats
from grader.sandbox.priority import lower
from grader.sandbox.protocol import RunnerSpec, Session
from grader.sandbox.session import ForkSession
from grader.sandbox.syscalls import compile_filter
from grader.sandbox.task_limits import TASKS, shared_tasks
from grader.sandbox.verifiers import Verifiers
from grader.sandbox.walls import Isolation, wall_names
from grader.sandbox.zygote import Zygote

_MAX_REQUEST_BYTES = 1 << 30
_TRIES = 10
# Source: https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_MMAP_THRESHOLD = -3


class PooledSandbox:
    """The sandbox of the service and of the command line. Several threads may open sessions; close it once."""

    def __init__(self, pool: Pool, compiled: CompiledPrograms, walls: tuple[str, ...], ceiling: Ceiling) -> None:
        self._pool = pool
        self._compiled = compiled
        self._ceiling = ceiling
        self._verifiers = Verifiers(self._take, keep=os.cpu_count() or 1)
        pool.when_at_rest = self._verifiers.release
        self.walls: tuple[str, ...] = walls

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> ForkSession:
        """See `Sandbox.open`."""
        return self._take(self._bounded(spec), stop)

    def verifier(
        self,
        devices: int,
        limits: Limits,
        stop: Stop = NEVER,
        *,
        alone: bool = False,
        background: bool = False,
        fresh: bool = False,
    ) -> AbstractContextManager[Session]:
        """See `Sandbox.verifier`."""
        limits = self._ceiling.clamp(limits)
        return self._verifiers.lend(devices, limits, stop, alone=alone, background=background, fresh=fresh)

    def _take(self, spec: RunnerSpec, stop: Stop) -> ForkSession:
        for _ in range(_TRIES - 1):
            try:
                return self._begin(self._pool.take(spec, stop), spec, stop)
            except LostRunner:
                # The fork died while it waited, before any submitted code ran in it. Take another.
                continue
        return self._begin(self._pool.take(spec, stop), spec, stop)

    def _begin(self, session: ForkSession, spec: RunnerSpec, stop: Stop) -> ForkSession:
        try:
            if spec.warmup is not None and not session.warmed:
                self._compiled.lend(session, spec.devices, spec.warmup)
            time_s, wall_s = spec.limits.time_s * spec.share, spec.limits.wall_s * spec.share
            session.begin(spec.limits.model_copy(update={"time_s": time_s, "wall_s": wall_s}), stop)
            # A verifier outlives the work, so `Verifiers` lowers its priority only while it is lent.
            if spec.background and spec.program == "serve":
                lower(session.pid)
            return session
        except BaseException:
            session.close()
            raise

    def warm(self, spec: RunnerSpec) -> None:
        self._pool.want(self._bounded(spec))

    def _bounded(self, spec: RunnerSpec) -> RunnerSpec:
        # The limits of compilers for chips come from us, not from a package. A real model takes them minutes.
        return spec if spec.compiles_for_chip else replace(spec, limits=self._ceiling.clamp(spec.limits))

    def stats(self) -> PoolStats:
        return self._pool.stats()

    def close(self) -> None:
        self._verifiers.close()
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def build_sandbox(
    cache: Path,
    *,
    isolation: Isolation = "bubblewrap",
    settings: PoolSettings | None = None,
    ceiling: Ceiling | None = None,
    without: frozenset[str] = frozenset(),
) -> PooledSandbox:
    """Make a sandbox. Its zygote starts with the first request, which also raises an error if a wall is missing.

    Args:
      cache: a folder for programs that warm-ups compiled, which no other user can write.
      isolation: "container" if a container is the outermost wall: no namespaces of our own, all other walls as usual.
      ceiling: the highest limits. Those of a package are lowered to it, wherever the package came from.
      without: walls to leave out, for tests and measurements. The sandbox does not claim them, and the service refuses
        such a sandbox.
    """
    _return_large_buffers()
    standing = [name for name in wall_names(isolation) if name not in without]
    compiled = CompiledPrograms(cache / "compiled")
    order: dict[str, object] = {"max_payload_bytes": _MAX_REQUEST_BYTES}

    def make_zygote() -> Zygote:
        return Zygote(command_for(isolation), confinement_for(isolation, without).to_json())

    pool = Pool(make_zygote, order, compiled, settings or PoolSettings(), Cgroups.delegated())
    pool.start()
    return PooledSandbox(pool, compiled, tuple(standing), ceiling or Ceiling())


def _return_large_buffers() -> None:
    """Return buffers of 1 MiB or more to the system as soon as they are freed.

    By default, glibc raises this threshold to the size of the largest buffer ever freed, up to 32 MiB. One large result
    of one submission would then stay in the supervisor's heap for good.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 20)


def command_for(isolation: Isolation) -> list[str]:
    """The command that starts the zygote, without the zygote's own arguments."""
    if isolation == "bubblewrap":
        return [*bubblewrap_command(), *zygote_command()]
    environment = [f"{name}={value}" for name, value in runner_environment().items()]
    program = Path(__file__).resolve().parents[1] / "forks" / "zygote.py"
    return ["/usr/bin/env", "-i", *environment, sys.executable, "-I", "-B", str(program)]


def confinement_for(isolation: Isolation, without: frozenset[str] = frozenset()) -> Confinement:
    """The restrictions that each fork sets for itself. A container cannot mount, so it leaves nothing writable."""
    inside = isolation == "bubblewrap"
    grader = Path(__file__).resolve().parents[1]
    own = (sys.prefix, sys.base_prefix, *(str(grader / name) for name in INSIDE))
    return Confinement(
        uid=None,
        scratch_bytes=SCRATCH_BYTES if inside else 0,
        readable=readable_paths() if inside else (*readable_paths(), *own),
        writable=writable_paths(),
        syscall_filter=compile_filter().hex(),
        tpu_filter=compile_filter(for_tpu=True).hex() if compiler_of("tpu") else "",
        tasks=TASKS,
        shared_tasks=shared_tasks(most_tasks()),
        open_files=OPEN_FILES,
        without=tuple(sorted(without)),
    )
