"""No process outlives the one that started it, whenever that one is killed."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
Start = Callable[[str], int]


def marked(mark: str) -> list[str]:
    """Command lines of the processes with the mark, without the starter's own."""
    found = []
    for entry in os.scandir("/proc"):
        try:
            line = Path(entry.path, "cmdline").read_bytes() if entry.name.isdigit() else b""
        except (FileNotFoundError, ProcessLookupError):
            continue
        if mark.encode() in line and b"tests.grader.sandbox.process_starter" not in line:
            found.append(line.replace(b"\0", b" ").decode(errors="replace")[:200])
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


@pytest.fixture
def start(mark: str) -> Iterator[Start]:
    """Start a process that follows commands. Returns its number."""
    command = [sys.executable, "-m", "tests.grader.sandbox.process_starter", mark]
    with subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def tell(what: str) -> int:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{what}\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield tell
        process.stdin.close()


@pytest.mark.serial
def test_a_prover_of_walls_that_is_killed_leaves_nothing_behind(start, mark):
    seen = 0
    for moment in range(20):
        pid = start("probe the walls")
        time.sleep(0.015 * moment)
        seen += bool(marked(mark))
        os.kill(pid, signal.SIGKILL)
    assert seen, "all were killed before they had started anything"
    wait_until(lambda: not marked(mark))
    assert marked(mark) == []


def test_a_program_that_arms_nothing_ends_with_its_starter(start, mark):
    pid = start("start a deaf program")
    wait_until(lambda: any(line.startswith("sleep") or "sleep 600" in line for line in marked(mark)))
    assert marked(mark)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not marked(mark))
    assert marked(mark) == []
