"""Which legs CI runs, and what it makes of a compiler that cannot be installed."""

import pytest

from tests import legs


def _changes(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    monkeypatch.setattr(legs, "base", lambda: "abc123")
    monkeypatch.setattr(legs, "has_changed", lambda *prefixes: any(path.startswith(prefixes) for path in paths))


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        (["app/entry/main.py", "README.md"], []),
        (["grader/judging/judge.py"], ["next-jax", "tpu", "gpu"]),
        (["problems/dp_step/cases.py"], ["next-jax", "tpu", "gpu"]),
        (["next-jax.txt"], ["next-jax"]),
        (["tests/tpu/full_size.json"], ["tpu"]),
        (["gpu-compiler.txt"], ["gpu"]),
    ],
)
def test_a_leg_runs_if_what_it_depends_on_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], paths: list[str], chosen: list[str]
) -> None:
    _changes(monkeypatch, *paths)
    assert legs.to_run() == chosen
    reasons = capsys.readouterr().err.splitlines()
    assert len(reasons) == len(legs.LEGS) - len(chosen)
    assert all("has changed since abc123" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("paths", "failing", "status", "told"),
    [
        ([], [], 0, ""),
        ([], ["install-gpu"], 0, "WARNING: The compiler for GPUs could not be installed"),
        (["gpu-compiler.txt"], ["install-gpu"], 1, "FAILED: The compiler for GPUs could not be installed"),
        ([], ["test --tpu"], 1, "FAILED: ./meshgrade test --tpu failed."),
    ],
    ids=["all pass", "no registry", "a compiler that does not exist", "a test fails"],
)
def test_all_legs_run_and_a_compiler_that_is_missing_is_a_warning_unless_it_changed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    paths: list[str],
    failing: list[str],
    status: int,
    told: str,
) -> None:
    _changes(monkeypatch, *paths)
    ran: list[str] = []
    monkeypatch.setattr(legs, "_fails", lambda *command: ran.append(" ".join(command)) or ran[-1] in failing)
    assert legs.run(["next-jax", "tpu", "gpu"]) == status
    last = "install-gpu" if "install-gpu" in failing else "test --gpu"
    assert (ran[0], ran[-1]) == ("test --next-jax", last)
    assert told in capsys.readouterr().err


def test_what_belongs_to_a_leg_alone_makes_it_run() -> None:
    for leg, files in legs.OWN.items():
        assert all(file.startswith(legs.LEGS[leg]) for file in files)
