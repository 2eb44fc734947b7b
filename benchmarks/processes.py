"""The resources that the processes of a service use, read from outside."""

import contextlib
import os
import signal
import time
from pathlib import Path

from benchmarks.errors import BenchmarkFailed
from grader.sandbox.usage import descendants

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_TICK_S = 0.05
_QUIET_TICKS = 6
_QUIET_CPU_S = 0.02
# A process with a JAX backend has at least one thread per device; the zygote, bubblewrap and a helper have few.
_THREADS_OF_A_BACKEND = 8
_ADDRESS_SPACE = "Max address space"


def cpu_s(root: int) -> float:
    """CPU seconds so far of a process and all below it, including those that have ended and were reaped.

    A process that ends leaves its time to the one that waits for it: a fork to the zygote, a zygote to bubblewrap,
    bubblewrap to the service. Only unreaped processes would be lost, and there are none here.
    """
    return sum(_ticks(pid) for pid in descendants(root)) / _TICKS_PER_S


def wait_until_quiet(root: int, *, limit_s: float = 60.0) -> None:
    """Wait until a process and all below it have used almost no CPU time for 0.3 s.

    If the process is the caller's own, its own time does not count, because watching the others takes some.

    Raises:
      BenchmarkFailed: they are still busy after `limit_s`.
    """
    deadline = time.monotonic() + limit_s
    last, quiet = _cpu_of_others_s(root), 0
    while quiet < _QUIET_TICKS:
        if time.monotonic() > deadline:
            raise BenchmarkFailed(f"the processes of the service were still busy after {limit_s:.0f} s without work")
        time.sleep(_TICK_S)
        now = _cpu_of_others_s(root)
        quiet = quiet + 1 if now - last <= _QUIET_CPU_S else 0
        last = now


def _cpu_of_others_s(root: int) -> float:
    return cpu_s(root) - (time.process_time() if root == os.getpid() else 0.0)


def pss_mb(root: int) -> float:
    """Resident MB (10^6 bytes) of a process and all below it, each page divided by the processes that share it."""
    return sum(pss_mb_of(pid) for pid in descendants(root))


def pss_mb_of(pid: int) -> float:
    """Like `pss_mb`, for one process alone; 0 if it has ended."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6
    return 0.0


def warm_forks(root: int) -> list[int]:
    """The processes below `root` with a JAX backend and no child: in an idle service, waiting runners and verifiers."""
    return [
        pid for pid in descendants(root)[1:] if descendants(pid) == [pid] and _threads(pid) >= _THREADS_OF_A_BACKEND
    ]


def waits_for_work(fork: int) -> bool:
    """Whether a fork is still unused. Its address space is limited on first use, and a used verifier keeps it."""
    limits = Path(f"/proc/{fork}/limits").read_text().splitlines()
    soft = next(line.removeprefix(_ADDRESS_SPACE).split()[0] for line in limits if line.startswith(_ADDRESS_SPACE))
    return soft == "unlimited"


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def private_mb(pid: int) -> float:
    """Memory in MiB that only this process holds, dirty or clean: the cost of one more process of its kind."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = dict(line.split(":", 1) for line in rollup.splitlines()[1:])
    return sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Private_Clean")) / 1024


def _ticks(pid: int) -> int:
    """Clock ticks of a process, and of its children that it has waited for; none once it has ended."""
    try:
        # The second field is a name in brackets with arbitrary contents, so count from the last bracket.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(field) for field in fields[11:15])


def _threads(pid: int) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 0
