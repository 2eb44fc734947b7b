"""Prove every wall by trying to cross it."""

import json
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderFault, SubmissionFault, WallMissing
from grader.package.package import Limits
from grader.sandbox.bubblewrap import WALLS, start
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.remedies import UNKNOWN

# The least that a package may set; the probe, without JAX in it, starts far below.
_MEMORY_MB = 512


@dataclass(frozen=True, slots=True)
class WallReport:
    """One wall: whether it is up, what trying to cross it gave, and what to do where it is not."""

    name: str
    up: bool
    found: str
    remedy: str


def probe_walls() -> list[WallReport]:
    """Start a probe in the place of a submission and report on each wall. Takes about a second."""
    try:
        crossed = _probe()
    except WallMissing as missing:
        # Without namespaces nothing was started, so the others could not be tried: not proved is not up.
        return [_not_up(name, missing.found, missing.remedy) for name in WALLS]
    except GraderFault as fault:
        return [_not_up(name, str(fault), UNKNOWN) for name in WALLS]
    return [_report(name, crossed[name]) for name in WALLS]


def require_walls() -> None:
    """Raise `WallMissing` for the first wall that does not hold."""
    for report in probe_walls():
        if not report.up:
            raise WallMissing(report.name, report.found, report.remedy)


def _report(name: str, crossed: list[str]) -> WallReport:
    if crossed:
        return _not_up(name, "a submission could " + "; ".join(crossed), UNKNOWN)
    return WallReport(name, True, "held", "")


def _not_up(name: str, found: str, remedy: str) -> WallReport:
    return WallReport(name, False, found, remedy)


def _probe() -> dict[str, list[str]]:
    spec = RunnerSpec(devices=1, limits=Limits(time_s=30.0, wall_s=30.0, memory_mb=_MEMORY_MB))
    with tempfile.NamedTemporaryFile() as canary, socket.create_server(("127.0.0.1", 0)) as server:
        Path(canary.name).chmod(0o644)
        targets = {"file": canary.name, "port": str(server.getsockname()[1])}
        with start(spec, "probe.py", json.dumps(targets)) as session:
            hello = session.wait_until_ready()
            crossed = {name: [str(what) for what in found] for name, found in hello["crossed"].items()}
            crossed["memory"] = []
            try:
                session.request({"op": "hoard"})
            except SubmissionFault as fault:
                if fault.reason != "memory_limit":
                    crossed["memory"].append(f"take memory until {fault.reason}")
    return crossed
