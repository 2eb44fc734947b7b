"""The limits of the service's own process, which a sandbox inherits: a runner can lower them, but never raise them."""

import os
import resource
from dataclasses import dataclass

from grader.sandbox.cgroup import task_limit
from grader.sandbox.task_limits import TASKS

OPEN_FILES = 256
SCRATCH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class LowLimit:
    """A limit that is lower than a runner needs: what was found, and how to raise it."""

    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Need:
    """`least` is what a runner needs. `unit` is the unit in which a shell counts."""

    what: str
    number: int
    least: int
    ulimit: str
    systemd: str
    docker: str
    unit: int = 1


# XLA reserves far more address space than it uses. The largest package of the default settings has 4 GiB of memory.
_NEEDS = (
    _Need("open files", resource.RLIMIT_NOFILE, OPEN_FILES, "-n", "LimitNOFILE", "nofile"),
    _Need("processes and threads", resource.RLIMIT_NPROC, TASKS, "-u", "LimitNPROC", "nproc"),
    _Need("bytes in a file", resource.RLIMIT_FSIZE, SCRATCH_BYTES, "-f", "LimitFSIZE", "fsize", 1024),
    _Need("seconds of CPU time", resource.RLIMIT_CPU, 3600, "-t", "LimitCPU", "cpu"),
    _Need("bytes of address space", resource.RLIMIT_AS, 24 << 30, "-v", "LimitAS", "as", 1024),
    _Need("bytes of data", resource.RLIMIT_DATA, 6 << 30, "-d", "LimitDATA", "data", 1024),
)


def low_limits() -> list[LowLimit]:
    """Return the hard limits of this process that are too low for a runner to start."""
    return [_low(need, has) for need in _NEEDS if (has := _hard(need.number)) < need.least]


def most_tasks() -> int | None:
    """How many processes and threads the service and its runners may have together; None if nothing limits them."""
    limits = [limit for limit in (task_limit(),) if limit is not None]
    # The kernel never refuses root a process.
    if os.geteuid() != 0 and (own := _hard(resource.RLIMIT_NPROC)) != float("inf"):
        limits.append(int(own))
    return min(limits, default=None)


def _hard(number: int) -> float:
    hard = resource.getrlimit(number)[1]
    return float("inf") if hard == resource.RLIM_INFINITY else hard


def _low(need: _Need, has: float) -> LowLimit:
    return LowLimit(
        f"this process may have at most {has:,.0f} {need.what}, and a runner needs {need.least:,}",
        f"raise the hard limit before the service starts: `ulimit {need.ulimit} "
        f"{-(-need.least // need.unit)}` in a shell of root, `{need.systemd}={need.least}` in a systemd unit, or "
        f"`--ulimit {need.docker}={need.least}` for a container",
    )
