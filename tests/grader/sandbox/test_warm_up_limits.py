"""A package's warm-up runs within the package's limits, and one that fails is tried again later."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.core.errors import SubmissionFault
from grader.package.ceiling import Ceiling
from grader.package.package import Limits
from grader.sandbox import retry_backoff as setbacks_module
from grader.sandbox import session as session_module
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.pool import PoolSettings
from grader.sandbox.protocol import RunnerSpec, Warmup
from grader.sandbox.retry_backoff import RetryBackoff, Setback

# Limits that an author set under a higher ceiling than today's.
LIMITS = Limits(time_s=20.0, wall_s=30.0, memory_mb=65536)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PooledSandbox]:
    settings = PoolSettings(generic=0, per_problem=1, problems=1, fillers=1)
    folder = tmp_path_factory.mktemp("sandbox")
    with build_sandbox(folder, settings=settings, ceiling=Ceiling(memory_mb=600)) as built:
        yield built


def spec(version: str, *lines: str, before: str = "") -> RunnerSpec:
    body = "\n".join(f"    {line}" for line in lines)
    return RunnerSpec(1, LIMITS, Warmup(version, f"import os, threading, time\n{before}\ndef warm():\n{body}\n"))


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def setback_of(sandbox: PooledSandbox, wanted: RunnerSpec) -> Setback:
    assert wanted.warmup is not None
    version = wanted.warmup.version

    def found() -> list[Setback]:
        return [each for each in sandbox.stats().setbacks if each.name == version]

    sandbox.warm(wanted)
    wait_for(found, f"the warm-up {version} fails")
    return found()[0]


HOARD = ["hoard = []", "while True: hoard.append(b'1' * (8 << 20))"]


@pytest.mark.parametrize("where", ["in warm()", "while it is imported"])
def test_a_warm_up_is_held_to_the_memory_of_its_package_and_that_to_the_ceiling(sandbox, where):
    hoarding = spec("hoard", *HOARD) if where == "in warm()" else spec("imported", "pass", before="\n".join(HOARD))
    told = setback_of(sandbox, hoarding)
    assert "memory_limit" in told.why
    assert "600 MiB" in told.why


def test_a_warm_up_is_held_to_cpu_time(sandbox, monkeypatch):
    monkeypatch.setattr(session_module, "WARM_UP_CPU_S", 1.0)
    assert "time_limit" in setback_of(sandbox, spec("spin", "while True: pass")).why


def test_a_warm_up_cannot_speak_for_the_walls(sandbox):
    forged = "from grader.core import wire; os.write(3, wire.pack({'wall': 'seccomp', 'found': 'x'}))"
    assert "the warm-up failed" in setback_of(sandbox, spec("forged", forged, "time.sleep(60)")).why


def test_what_a_warm_up_leaves_running_is_ended_while_it_waits(sandbox, monkeypatch):
    monkeypatch.setattr(session_module, "_REST_LOOK_S", 0.5)
    spinning = spec("spins on", "threading.Thread(target=spin, daemon=True).start()", before="def spin():\n while 1: 1")
    assert "keeps computing" in setback_of(sandbox, spinning).why


def test_a_warm_up_that_took_too_long_is_tried_again(sandbox, monkeypatch):
    monkeypatch.setattr(setbacks_module, "_FIRST_PAUSE_S", 0.1)
    monkeypatch.setattr(session_module, "WARM_UP_S", 0.3)
    slow = spec("slow", "time.sleep(0.6)")
    assert "time_limit" in setback_of(sandbox, slow).why
    monkeypatch.setattr(session_module, "WARM_UP_S", 60.0)
    wait_for(lambda: sandbox.stats().warm.get("slow"), "it is tried again")
    assert "slow" not in [each.name for each in sandbox.stats().setbacks]


def test_a_submission_is_held_to_the_ceiling(sandbox):
    with sandbox.open(RunnerSpec(1, LIMITS)) as session:
        session.request(
            {"op": "load", "source": "def f():\n    x = [b'1' * (8 << 20) for _ in range(200)]", "entry": "f"}
        )
        with pytest.raises(SubmissionFault, match="600 MiB"):
            session.request({"op": "call"}, {"args": []})


def test_setbacks_come_due_later_and_later():
    now = [0.0]
    setbacks = RetryBackoff(lambda: now[0])
    assert setbacks.is_due("a")
    pauses = [setbacks.failed("a", "why").again_in_s for _ in range(12)]
    assert pauses[0] == 15
    assert pauses == sorted(pauses)
    assert pauses[-1] == 1800
    assert not setbacks.is_due("a")
    assert setbacks.is_due("b")
    now[0] = 1801.0
    assert setbacks.is_due("a")
    assert setbacks.all() == (Setback("a", 12, "why", 0.0),)
    setbacks.succeeded("a")
    assert setbacks.all() == ()


def test_a_ceiling_names_what_is_above_it_and_clamps_it():
    assert Ceiling().faults(Limits()) == []
    (fault,) = Ceiling().faults(Limits(memory_mb=65536))
    assert "limits.memory_mb is 65536" in fault.message
    assert "at most 4096 MiB" in fault.message
    assert "MESHGRADE_PACKAGE_MEMORY_MB" in fault.message
    assert (
        dataclasses.asdict(Ceiling())
        == Ceiling().clamp(Limits(time_s=600, wall_s=1200, memory_mb=65536, output_mb=1024)).model_dump()
    )
    assert Ceiling().clamp(Limits()) == Limits()


def test_the_ceiling_is_above_what_ships():
    from grader.review.reader import read_package

    folders = Path(__file__).resolve().parents[3].joinpath("problems").glob("*/problem.toml")
    assert all(read_package(each.parent, Ceiling()).slug for each in folders)
