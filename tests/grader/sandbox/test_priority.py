"""Work that nobody waits for has a low priority, with all of its threads, and only until its block ends."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox import priority
from grader.sandbox.priority import NICENESS, giving_way, lower, lower_session, may_raise

# Three threads that wait until the process is killed.
THREADS = """
import threading, time
for _ in range(2):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print("up", flush=True)
time.sleep(600)
"""


@pytest.fixture
def process() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        yield child.pid
        child.kill()


def policies(pid: int) -> list[int]:
    return [os.sched_getscheduler(int(thread)) for thread in os.listdir(f"/proc/{pid}/task")]


def test_a_process_gives_way_for_a_while(process: int):
    before = os.getpriority(os.PRIO_PROCESS, process)
    with giving_way(process):
        assert policies(process) == [os.SCHED_IDLE if may_raise() else os.SCHED_OTHER] * 3
    assert policies(process) == [os.SCHED_OTHER] * 3
    assert os.getpriority(os.PRIO_PROCESS, process) == before


def test_what_could_not_be_given_back_is_not_taken(process: int, monkeypatch):
    monkeypatch.setattr(priority, "may_raise", lambda: False)
    with giving_way(process):
        assert policies(process) == [os.SCHED_OTHER] * 3


def test_a_lowered_process_stays_low(process: int):
    lower(process)
    assert {os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in os.listdir(f"/proc/{process}/task")} == {19}


def test_a_session_gets_less_than_others():
    with subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE, start_new_session=True) as child:
        group = Path(f"/proc/{child.pid}/autogroup")
        lower_session(child.pid)
        # A kernel that does not group processes by session has no such file.
        assert not group.exists() or group.read_text().split()[-1] == str(NICENESS)
        child.kill()


def test_a_process_that_is_gone_is_no_matter(process: int):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with giving_way(gone.pid):
        lower(gone.pid)
        lower_session(gone.pid)
