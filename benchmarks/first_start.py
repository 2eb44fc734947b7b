"""What a first start on an empty data folder costs, and whether the first wrong submissions are explained.

    python -m benchmarks.first_start

One server gets a known mistake for each of four problems as soon as it listens. A second one gets no requests: its CPU
time, with that of its descendants, is measured until it is at rest, and for a minute after that.
"""

import tempfile
import time
from pathlib import Path

from benchmarks.processes import cpu_s
from benchmarks.server import Server
from benchmarks.workload import CHECKOUT

_PROBLEMS = CHECKOUT / "problems"
_MISTAKES = (
    "psum_scatter_mean/submissions/rejected/wrong_value/divided_by_devices_only.py",
    "dp_step/submissions/rejected/wrong_value/divided_by_eight.py",
    "zero2_grads/submissions/rejected/wrong_value/eight_devices.py",
    "fsdp_step/submissions/rejected/wrong_value/absolute_error.py",
)
_LOOK_S = 10.0
# A server that has nothing to do takes less CPU time than this in `_LOOK_S`.
_QUIET_CPU_S = 1.0
_IDLE_S = 60.0
_LIMIT_S = 900.0


def _first_submissions(data: Path) -> None:
    with Server(data, _PROBLEMS, "", print) as server:
        for file in _MISTAKES:
            slug = file.partition("/")[0]
            taken_ms, verdict = server.grade(f"{slug}/attempts", (_PROBLEMS / file).read_text(encoding="utf-8"))
            print(f"{slug}: {taken_ms / 1000:.1f} s, misconception: {verdict['misconception']}", flush=True)


def _until_idle(data: Path) -> None:
    with Server(data, _PROBLEMS, "", print) as server:
        started, before = time.monotonic(), cpu_s(server.pid)
        used = before
        while time.monotonic() < started + _LIMIT_S:
            time.sleep(_LOOK_S)
            now = cpu_s(server.pid)
            if now - used < _QUIET_CPU_S:
                break
            used = now
        print(f"at rest after {time.monotonic() - started:.0f} s and {used:.0f} CPU s", flush=True)
        idle_from = cpu_s(server.pid)
        time.sleep(_IDLE_S)
        print(f"in the {_IDLE_S:.0f} s after that: {cpu_s(server.pid) - idle_from:.1f} CPU s", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _first_submissions(Path(folder, "first"))
        _until_idle(Path(folder, "idle"))


if __name__ == "__main__":
    main()
