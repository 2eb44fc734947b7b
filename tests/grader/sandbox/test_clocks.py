"""CPU time decides, wall clock is the backstop, and a busy machine is charged to nobody."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from grader.core.errors import SubmissionFault
from grader.package.package import Limits
from grader.sandbox.build import PooledSandbox
from grader.sandbox.capture import Capture
from grader.sandbox.faults import fault_of_wall_time
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.usage import delays_of

SLEEPS = "import time\ndef f(x):\n    time.sleep(30)\n    return x\n"
SPINS = "def f(x):\n    while True: pass\n"


def run(sandbox: PooledSandbox, source: str, limits: Limits) -> object:
    with sandbox.open(RunnerSpec(2, limits)) as session:
        session.request({"op": "load", "source": source, "entry": "f"})
        return session.request({"op": "call"}, {"args": [1.0]})[1]["result"]


@pytest.fixture
def crowded_core() -> Iterator[int]:
    """A core on which three others compute, too."""
    core = min(os.sched_getaffinity(0))
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    for process in crowd:
        os.sched_setaffinity(process.pid, {core})
    yield core
    for process in crowd:
        process.kill()
        process.wait()


def test_computing_is_stopped_by_cpu_time(sandbox):
    with pytest.raises(SubmissionFault, match="1 s of CPU time"):
        run(sandbox, SPINS, Limits(time_s=1.0, wall_s=60.0))


def test_waiting_is_stopped_by_the_wall_clock(sandbox):
    busy = r"most of which it spent waiting: .* the machine may have been too busy: try again\.$"
    with pytest.raises(SubmissionFault, match=busy):
        run(sandbox, SLEEPS, Limits(time_s=20.0, wall_s=1.0))


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        (Limits(time_s=2.0, wall_s=60.0), "stopped after 2 s of CPU time"),
        (Limits(time_s=60.0, wall_s=2.0), "stopped after 2 s"),
    ],
    ids=["CPU", "wall"],
)
@pytest.mark.parametrize("printed", ["print('x', flush=True)", "print('x', file=sys.stderr)", "os.write(1, b'x' * 9)"])
def test_printing_without_end_is_over_the_limit_on_output(
    sandbox: PooledSandbox, printed: str, limits: Limits, stopped: str
):
    """Small prints use up the time before they are the 64 MiB that stop a program at once."""
    with pytest.raises(SubmissionFault, match=f"{stopped}, while it was still printing") as raised:
        run(sandbox, f"import os, sys\ndef f(x):\n    while True: {printed}\n", limits)
    assert raised.value.reason == "output_limit"
    assert str(raised.value).endswith("Look for a loop that prints without end.")


@pytest.mark.serial
def test_small_prints_do_not_keep_the_judge_busy(sandbox: PooledSandbox):
    before_s = time.process_time()
    with pytest.raises(SubmissionFault):
        run(sandbox, "import os\ndef f(x):\n    while True: os.write(1, b'x')\n", Limits(time_s=3.0, wall_s=60.0))
    assert time.process_time() - before_s < 1.5


def test_some_prints_do_not_make_a_long_program_one_that_prints_without_end(sandbox: PooledSandbox):
    naps = "import time\ndef f(x):\n    while True: print(x, flush=True); time.sleep(0.1)\n"
    with pytest.raises(SubmissionFault, match=r"spent waiting: .* It was still printing\. ") as raised:
        run(sandbox, naps, Limits(time_s=20.0, wall_s=1.0))
    assert raised.value.reason == "time_limit"


def test_computing_for_all_the_time_is_not_called_waiting():
    fault = fault_of_wall_time(8.0, 5.25, Capture())
    assert str(fault).startswith("Your code was stopped after 8 s, of which it computed for 5.2 s: look for a loop")


@pytest.mark.serial
def test_waiting_for_a_core_is_seen(crowded_core):
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.sched_setaffinity(process.pid, {crowded_core})
        deadline = time.monotonic() + 60
        while sum(delays_of(process.pid).values()) < 0.1:
            assert time.monotonic() < deadline, "nobody counts how long it waited"
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


def test_waiting_for_a_core_is_not_charged(sandbox, monkeypatch):
    limits = Limits(time_s=20.0, wall_s=0.5)
    naps = "import time\ndef f(x):\n    time.sleep(1.5)\n    return x\n"
    # As if all the time had been taken by others.
    monkeypatch.setattr("grader.sandbox.session.delays_of", lambda pid: {pid: time.monotonic()})
    assert run(sandbox, naps, limits) == 1.0


def test_a_process_that_is_gone_was_not_delayed():
    assert delays_of(2**22 + 1) == {}
