"""Test every wall by trying to cross it."""

import ctypes
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.core.context import NEVER
from grader.core.errors import GraderFault, LostRunner, SubmissionFault, WallMissing
from grader.package.package import Limits
from grader.sandbox.build import command_for, confinement_for
from grader.sandbox.own_limits import low_limits
from grader.sandbox.remedies import MORE_MEMORY, TO_FIX_IT, UNKNOWN
from grader.sandbox.session import ForkSession
from grader.sandbox.walls import Isolation, Wall, walls_of
from grader.sandbox.zygote import Zygote

# The smallest limit that a package may set; a probe has no backend and starts far below it.
_LIMITS = Limits(time_s=60.0, wall_s=60.0, memory_mb=512)
# Source: https://man7.org/linux/man-pages/man2/shmget.2.html
_IPC_CREAT, _IPC_EXCL, _IPC_RMID = 0o1000, 0o2000, 0


@dataclass(frozen=True, slots=True)
class WallReport:
    """One wall: whether it is up, what happened when we tried to cross it, and how to fix it."""

    name: str
    up: bool
    found: str
    remedy: str


def probe_walls(isolation: Isolation = "bubblewrap") -> list[WallReport]:
    """Run a probe instead of a submission, and report on each wall. This takes a few seconds."""
    if low := low_limits():
        # A runner would end with a traceback, and no wall could be tested.
        missing = WallMissing("rlimits", "; ".join(each.found for each in low), "; ".join(each.remedy for each in low))
        return [_report(wall, None, missing) for wall in walls_of(isolation)]
    crossed: dict[str, list[str]] = {}
    faults: dict[str, GraderFault] = {}
    tried: dict[frozenset[str], list[str]] = {}
    for wall in walls_of(isolation):
        tried.setdefault(wall.hidden_by, []).append(wall.name)
    for without, names in tried.items():
        try:
            crossed |= _probe(isolation, names, without)
        except GraderFault as fault:
            faults |= dict.fromkeys(names, fault)
    return [_report(wall, crossed.get(wall.name), faults.get(wall.name)) for wall in walls_of(isolation)]


def require_walls(isolation: Isolation = "bubblewrap") -> None:
    """Raise `WallMissing` for the first wall that can be crossed."""
    for report in probe_walls(isolation):
        if not report.up:
            raise WallMissing(report.name, report.found, report.remedy)


def _report(wall: Wall, crossed: list[str] | None, fault: GraderFault | None) -> WallReport:
    if isinstance(fault, WallMissing):
        # If the probe could not start, the wall was not tested, so it does not count as up.
        found = fault.found if fault.wall == wall.name else f"not tested, because the wall {fault.wall} is missing"
        return WallReport(wall.name, False, found, fault.remedy)
    if isinstance(fault, LostRunner):
        return WallReport(
            wall.name, False, "the probe was killed from outside, probably because memory ran out", MORE_MEMORY
        )
    if crossed is None:
        found, _, remedy = str(fault).partition(TO_FIX_IT)
        return WallReport(wall.name, False, found, remedy or UNKNOWN)
    if crossed:
        return WallReport(wall.name, False, "a submission could " + "; ".join(crossed), wall.remedy)
    return WallReport(wall.name, True, "held", "")


def _probe(isolation: Isolation, walls: list[str], without: frozenset[str]) -> dict[str, list[str]]:
    zygote = Zygote(command_for(isolation), confinement_for(isolation, without).to_json())
    with (
        tempfile.NamedTemporaryFile() as canary,
        socket.create_server(("127.0.0.1", 0)) as server,
        _shared_memory() as segment,
    ):
        Path(canary.name).chmod(0o644)
        zygote.start(imports=False)
        try:
            # The zygote is the only other process that always exists in the sandbox.
            targets = {
                "file": canary.name,
                "port": server.getsockname()[1],
                "segment": segment,
                "user": os.geteuid() == 0,
                "other": 1,
                "walls": walls,
            }
            if "namespaces" not in walls:
                return _crossed_by(_fork(zygote, targets))
            with _fork(zygote, {"walls": [], "leaves": "first"}) as neighbour:
                neighbour.wait_until_ready()
                return _crossed_by(_fork(zygote, {**targets, "leaves": "second", "finds": "first"}))
        finally:
            zygote.close()


@contextmanager
def _shared_memory() -> Iterator[int]:
    """Yield the key of a System V shared memory segment that every user of this machine can attach."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = secrets.randbelow(0x7FFF_FFFF) + 1
    segment = libc.shmget(key, 4096, _IPC_CREAT | _IPC_EXCL | 0o666)
    try:
        yield key
    finally:
        # A kernel without System V shared memory has no segment to remove.
        if segment >= 0:
            libc.shmctl(segment, _IPC_RMID, None)


def _fork(zygote: Zygote, targets: dict[str, object]) -> ForkSession:
    return ForkSession(zygote.fork({"program": "probe", "targets": targets, "devices": 1}))


def _crossed_by(session: ForkSession) -> dict[str, list[str]]:
    with session:
        hello = session.wait_until_ready()
        found = hello["crossed"]
        assert isinstance(found, dict)
        crossed = {str(name): [str(what) for what in ways] for name, ways in found.items()}
        session.charge(_LIMITS, NEVER)
        try:
            session.request({"op": "hoard"})
        except SubmissionFault as fault:
            if fault.reason != "memory_limit":
                crossed.setdefault("memory", []).append(f"allocate memory until {fault.reason}")
    return crossed
