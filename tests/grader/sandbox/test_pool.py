"""The pool survives whatever happens to its processes, and a lost one costs the submission nothing."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.context import NEVER
from grader.core.errors import GraderFault, LostRunner
from grader.judging.judge import Judge
from grader.package.package import Limits, Package
from grader.sandbox import pool as pool_module
from grader.sandbox import session as session_module
from grader.sandbox import zygote as zygote_module
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings
from grader.sandbox.protocol import RunnerSpec, Warmup
from grader.sandbox.usage import descendants
from grader.sandbox.zygote import Zygote, threads_of

SPEC = RunnerSpec(devices=2, limits=Limits(time_s=20.0, wall_s=30.0, memory_mb=1024))
SOURCE = "def f(x):\n    return x + 1\n"
WARM = RunnerSpec(2, SPEC.limits, Warmup("v1", "import jax.numpy as jnp\n\ndef warm():\n    jnp.ones(3) + 1\n"))


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PooledSandbox]:
    with build_sandbox(tmp_path, settings=PoolSettings(generic=2, per_problem=2, problems=1, fillers=1)) as built:
        yield built


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def answers(sandbox: PooledSandbox, spec: RunnerSpec = SPEC) -> bool:
    with sandbox.open(spec) as session:
        session.request({"op": "load", "source": SOURCE, "entry": "f"})
        return session.request({"op": "call"}, {"args": [1.0]})[1]["result"] == 2.0


def zygote_pid(sandbox: PooledSandbox) -> int:
    root = sandbox.stats().root
    assert root is not None
    return descendants(root)[3]


def test_the_zygote_has_one_thread_and_a_fork_is_another_user(pool):
    assert answers(pool)
    wait_for(lambda: pool.stats().full, "the pool fills")
    assert pool.stats().generic == 2
    assert threads_of(zygote_pid(pool)) == 1
    owners = [os.stat(f"/proc/{pid}").st_uid for pid in pool.stats().pids]
    if os.geteuid() == 0:
        uids = {Path(f"/proc/{pid}/status").read_text().partition("Uid:")[2].split()[0] for pid in pool.stats().pids}
        assert len(uids) == len(owners)
        assert "0" not in uids


def test_a_submission_runs_at_a_lower_priority_than_the_service(pool):
    with pool.open(SPEC) as session:
        assert os.getpriority(os.PRIO_PROCESS, session.pid) > os.getpriority(os.PRIO_PROCESS, 0)


def test_nothing_is_warmed_while_every_slot_grades(tmp_path):
    settings = PoolSettings(generic=1, per_problem=1, problems=1, fillers=1, at_once=1)
    with build_sandbox(tmp_path, settings=settings) as pool:
        pool.warm(WARM)
        wait_for(lambda: pool.stats().warm == {"v1": 1}, "one is warmed")
        with pool.open(WARM) as first:
            assert first.warmed
            for _ in range(3):
                # With a queue, the next submission gets a fork that was not warmed, and the stored programs.
                with pool.open(WARM) as session:
                    assert not session.warmed
            assert not pool.stats().warm.get("v1")
        wait_for(lambda: pool.stats().warm == {"v1": 1}, "the next is warmed once nothing is graded")


def test_only_the_problem_asked_for_last_has_more_than_one_fork_and_that_for_a_while(tmp_path, monkeypatch):
    other = replace(WARM, warmup=Warmup("v2", WARM.warmup.source))
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=2, problems=2, fillers=1)) as pool:
        pool.warm(WARM)
        pool.warm(other)
        wait_for(lambda: pool.stats().warm == {"v1": 1, "v2": 2}, "both are warmed")
        monkeypatch.setattr(pool_module, "_SPARE_S", 0.0)
        wait_for(lambda: pool.stats().warm == {"v1": 1, "v2": 1}, "what nobody has come for is let go")


def test_after_a_while_without_submissions_few_problems_stay_warm(tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "_RESTING_PROBLEMS", 1)
    other = replace(WARM, warmup=Warmup("v2", WARM.warmup.source))
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=1, problems=2, fillers=1)) as pool:
        pool.warm(WARM)
        pool.warm(other)
        wait_for(lambda: pool.stats().warm == {"v1": 1, "v2": 1}, "both are warmed")
        monkeypatch.setattr(pool_module, "_SPARE_S", 0.0)
        wait_for(lambda: pool.stats().warm == {"v2": 1}, "the older one is released")


def test_after_a_while_generic_forks_are_left_for_the_last_numbers_of_devices_and_no_verifier(tmp_path, monkeypatch):
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=0, problems=1, fillers=1)) as pool:
        for devices in (1, 2, 4):
            pool.warm(replace(SPEC, devices=devices))
            with pool.verifier(devices, SPEC.limits, fresh=True):
                pass
        wait_for(lambda: pool.stats().full and pool.stats().generic == 6, "each number of devices has two")
        assert len(pool._verifiers.pids()) == 3
        monkeypatch.setattr(pool_module, "_SPARE_S", 0.0)
        wait_for(lambda: pool.stats().generic == 4, "the oldest are let go")
        left = {(kind.program, kind.devices) for kind, queue in pool._pool._waiting.items() if queue}
        assert left == {("serve", 2), ("serve", 4), ("verify", 2), ("verify", 4)}
        wait_for(lambda: not pool._verifiers.pids(), "no verifier is left")
        assert answers(pool, replace(SPEC, devices=1))


def test_work_in_the_background_gets_no_warmed_fork_and_none_is_warmed_for_it(tmp_path):
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=2, problems=2, fillers=1)) as pool:
        assert answers(pool, replace(WARM, background=True))
        wait_for(lambda: pool.stats().full, "nothing is left to do")
        assert WARM.warmup is not None
        assert not pool._compiled.has(WARM.devices, WARM.warmup)
        assert pool.stats().warm == {}
        pool.warm(WARM)
        wait_for(lambda: pool.stats().warm == {"v1": 2}, "somebody may come now")
        with pool.open(replace(WARM, background=True)) as session:
            assert not session.warmed


def test_after_work_in_the_background_the_pool_rests_sooner_unless_somebody_came(tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "_SPARE_BACKGROUND_S", 0.0)
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=0, problems=1, fillers=1)) as pool:
        with pool.verifier(1, SPEC.limits, background=True, fresh=True):
            pass
        wait_for(lambda: not pool._verifiers.pids(), "it rests at once")
        pool.warm(SPEC)
        with pool.verifier(1, SPEC.limits, background=True, fresh=True):
            pass
        wait_for(lambda: pool.stats().full, "it looked at the clock")
        (verifier,) = pool._verifiers.pids()
        assert os.getpriority(os.PRIO_PROCESS, verifier) < 19


def test_after_a_longer_while_one_generic_fork_is_left_and_a_wish_wakes_the_pool(tmp_path, monkeypatch):
    other = replace(WARM, warmup=Warmup("v2", WARM.warmup.source), devices=WARM.devices // 2)
    with build_sandbox(tmp_path, settings=PoolSettings(generic=1, per_problem=1, problems=2, fillers=1)) as pool:
        pool.warm(WARM)
        pool.warm(other)
        with pool.verifier(WARM.devices, WARM.limits, fresh=True):
            pass
        wait_for(lambda: pool.stats().full and pool.stats().warm == {"v1": 1, "v2": 1}, "both are warmed")
        assert pool._verifiers.pids()
        monkeypatch.setattr(pool_module, "_SPARE_S", 0.0)
        with monkeypatch.context() as asleep:
            asleep.setattr(pool_module, "ASLEEP_S", 0.0)
            wait_for(lambda: len(pool.stats().pids) == pool.stats().generic == 1, "one is left")
            wait_for(lambda: not pool._verifiers.pids(), "no verifier is left")
        pool.warm(WARM)
        wait_for(lambda: pool.stats().warm.get("v1") == 1, "it is awake")


def test_work_in_the_background_has_the_lowest_priority(pool):
    with pool.open(replace(SPEC, background=True)) as session:
        threads = [int(task) for task in os.listdir(f"/proc/{session.pid}/task")]
        assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {19}


def test_a_fork_serves_one_submission(pool):
    pids = set()
    for _ in range(3):
        with pool.open(SPEC) as session:
            pids.add(session.pid)
        wait_for(lambda pid=session.pid: not Path(f"/proc/{pid}").exists(), "the fork is gone")
    assert len(pids) == 3


def test_a_fork_that_dies_while_it_waits_is_replaced(pool):
    pool.warm(SPEC)
    wait_for(lambda: pool.stats().generic == 2, "the pool fills")
    victims = pool.stats().pids
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    assert answers(pool)
    wait_for(lambda: pool.stats().generic == 2 and not set(victims) & set(pool.stats().pids), "they are replaced")


def test_a_zygote_that_dies_is_replaced_and_waiting_takers_are_served(pool):
    assert answers(pool)
    wait_for(lambda: pool.stats().generic == 2, "the pool fills")
    os.kill(zygote_pid(pool), signal.SIGKILL)
    wait_for(lambda: not pool.stats().alive or pool.stats().zygotes == 2, "it dies")
    assert answers(pool)
    assert pool.stats().zygotes == 2


def test_a_zygote_that_is_killed_again_and_again_comes_back(pool):
    for number in range(3):
        assert answers(pool)
        wait_for(lambda: pool.stats().alive, "it lives")
        os.kill(zygote_pid(pool), signal.SIGKILL)
        wait_for(lambda number=number: not pool.stats().alive or pool.stats().zygotes > number + 1, "it dies")
    assert answers(pool)


def test_a_zygote_killed_while_it_makes_a_fork_costs_nobody_the_runner(pool, monkeypatch):
    assert answers(pool)
    original, lost = Zygote.fork, []

    def dying(zygote, order):
        if len(lost) < 2 and zygote not in lost:
            lost.append(zygote)
            os.kill(zygote.pid, signal.SIGKILL)
        return original(zygote, order)

    monkeypatch.setattr(Zygote, "fork", dying)
    while len(lost) < 2:
        # Opened and not used: the next death would also end a runner in use, which another test covers.
        pool.open(SPEC).close()
    assert answers(pool)


@pytest.mark.parametrize("victim", ["fork", "zygote"])
def test_a_runner_killed_while_it_grades_is_lost_and_not_the_submissions_fault(pool, victim):
    with pool.open(SPEC) as session:
        session.request({"op": "load", "source": "import time\ndef f(x):\n    time.sleep(20)\n", "entry": "f"})
        pid = session.pid if victim == "fork" else zygote_pid(pool)
        threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
        with pytest.raises(LostRunner):
            session.request({"op": "call"}, {"args": [1.0]})
    assert answers(pool)


def test_a_lost_runner_is_tried_again_and_then_fails_uncharged(pool, tmp_path, add_one: Package, monkeypatch):
    judge = Judge(pool, b"s", tmp_path)
    judge.prepare(add_one)
    opened = []
    original = pool.open

    def losing(spec, stop=NEVER):
        session = original(spec, stop)
        opened.append(session)
        if len(opened) in lost:
            os.kill(session.pid, signal.SIGKILL)
        return session

    monkeypatch.setattr(pool, "open", losing)
    lost = {1, 2}
    assert judge.judge(add_one, add_one.reference).status == "accepted"
    assert len(opened) == 3
    opened.clear()
    lost = {1, 2, 3}
    verdict = judge.judge(add_one, add_one.reference)
    assert (verdict.status, verdict.reason) == ("failed", None)
    assert len(opened) == 3


def test_a_runner_that_is_stopped_is_timed_out_by_the_wall_clock(pool):
    limits = Limits(time_s=5.0, wall_s=1.0, memory_mb=1024)
    with pool.open(RunnerSpec(2, limits)) as session:
        os.kill(session.pid, signal.SIGSTOP)
        with pytest.raises(Exception, match="waiting"):
            session.request({"op": "load", "source": SOURCE, "entry": "f"})
    assert answers(pool)


def test_a_zygote_that_does_not_come_up_in_time_is_given_up(monkeypatch):
    monkeypatch.setattr(zygote_module, "START_LIMIT_S", 0.2)
    sleeper = Zygote([sys.executable, "-c", "import time; time.sleep(60)"], "{}")
    with pytest.raises(GraderFault, match="not ready"):
        sleeper.start()
    wait_for(lambda: not Path(f"/proc/{sleeper.root}").exists(), "it is gone")


def test_a_fork_that_wedges_while_it_is_made_is_given_up(pool, monkeypatch):
    monkeypatch.setattr(session_module, "WARM_UP_S", 2.0)
    wedged = RunnerSpec(2, SPEC.limits, Warmup("v2", "def warm():\n    while True: pass\n"))
    pool.warm(wedged)
    assert answers(pool)
    assert answers(pool, wedged)
    wait_for(lambda: len(pool.stats().pids) == 2 == pool.stats().generic, "only generic forks are kept")


def test_a_warmup_that_fails_does_not_stop_grading(pool):
    broken = RunnerSpec(2, SPEC.limits, Warmup("v3", "def warm():\n    raise ValueError\n"))
    assert answers(pool, broken)


def test_a_wall_clock_that_jumps_changes_nothing(pool, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert answers(pool)


def test_warmed_forks_are_preferred_and_need_no_compiling(pool):
    pool.warm(WARM)
    wait_for(lambda: pool.stats().warm.get("v1") == 2, "the problem is warm")
    warm = set(pool.stats().pids)
    with pool.open(WARM) as session:
        assert session.pid in warm
    assert pool.stats().misses == 0


def test_what_a_warmup_compiled_is_kept_for_the_next_service(tmp_path):
    for _ in range(2):
        with build_sandbox(tmp_path) as sandbox:
            sandbox.warm(WARM)
            wait_for(lambda sandbox=sandbox: bool(sandbox.stats().warm), "the problem is warm")
    kept = list((tmp_path / "compiled").iterdir())
    assert len(kept) == 1
    kept[0].write_bytes(kept[0].read_bytes()[:-9])
    with build_sandbox(tmp_path) as sandbox:
        assert answers(sandbox, WARM)


def test_problems_that_nobody_asks_for_are_let_go(pool):
    pool.warm(WARM)
    wait_for(lambda: pool.stats().warm.get("v1") == 2, "the problem is warm")
    pool.warm(RunnerSpec(2, SPEC.limits, Warmup("v4", "def warm():\n    pass\n")))
    wait_for(lambda: set(pool.stats().warm) == {"v4"}, "the other one has taken its place")


def test_closing_ends_every_process(tmp_path):
    before = set(descendants(os.getpid()))
    with build_sandbox(tmp_path) as sandbox:
        assert answers(sandbox)
    wait_for(lambda: set(descendants(os.getpid())) <= before, "all are gone")
    with pytest.raises(GraderFault):
        sandbox.open(SPEC)
