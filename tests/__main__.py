"""`./meshgrade test`: lint, spelling, prose, formatting, dependencies, import rules, types, then every test."""

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tests.cpu_budget import CHECK
from tests.parts import PARTS, base, part_of_commit, part_of_day
from tests.unchanged import ONLY_CHANGED, reasons

CHECKOUT = Path(__file__).resolve().parents[1]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_QUICK_STEPS = (
    ("lint", ["ruff", "check", "."]),
    ("spelling", ["codespell"]),
    ("prose", ["python", "-m", "tests.prose.lint"]),
    ("format", ["ruff", "format", "--check", "."]),
    ("dependencies", ["deptry", "app", "grader", "migrations", "problems"]),
    # What tests import must be declared, too, but they can use development dependencies, and leave others unused.
    ("dependencies of tests", ["deptry", "tests", "benchmarks", "frontend", "--ignore", "DEP002,DEP004"]),
    ("import rules", ["lint-imports", "--no-cache", "--no-logo"]),
)
# The longest step first, so that the others run at the same time.
_STEPS = (("types", ["mypy", "app", "grader"]), *_QUICK_STEPS)
_HOSTILE = "tests/hostile"
# A run of its own each, with a compiler that is not part of the set-up.
_GPU, _TPU = "tests/gpu", "tests/tpu"
# What depends most on JAX: private names, what programs can contain, every reference, and students' submissions.
_NEXT_JAX = (
    *("tests/grader/runner/test_private_jax.py", "tests/grader/verifier/test_operations.py"),
    *("tests/grader/verifier/test_kernels.py", "tests/grader/test_call_verdicts.py"),
    "tests/grader/test_program_verdicts.py",
)
# One process more than there are cores, because tests also wait for databases, processes and deadlines. Print the
# slowest tests, to show where the time goes.
_OPTIONS = ("-n", str(min(4, 1 + (os.cpu_count() or 1))), "--durations=20", "--durations-min=1")
# Coverage of this process and the tests. Code in a sandbox is not measured.
_COVERAGE_FILE = ".meshgrade/coverage.data"
_COVERAGE = ("--cov", "--cov-append", "--cov-report=term:skip-covered", "--cov-report=html:.meshgrade/coverage")


@app.command(
    help="Run lint, spelling, prose, format, dependencies, import rules, types and all tests. "
    "Arguments after -- go to pytest.",
    context_settings={"ignore_unknown_options": True},
)
def run_tests(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- PYTEST_ARGUMENTS]")] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out types and slow tests, such as those that start a sandbox, a browser or PostgreSQL.",
        ),
    ] = False,
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="Also report which branches of app and grader the tests take."),
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Run everything: every submission that ships with a problem, and all else that takes turns.",
        ),
    ] = False,
    next_jax: Annotated[
        bool,
        typer.Option(
            "--next-jax",
            help="Grade with the JAX of next-jax.txt instead: every reference, and an eighth of the submissions.",
        ),
    ] = False,
    gpu: Annotated[
        bool,
        typer.Option("--gpu", help="Only what needs the compiler for GPUs, which is installed first: 0.5 GB."),
    ] = False,
    tpu: Annotated[
        bool,
        typer.Option("--tpu", help="Only what needs the compiler for TPUs, which is installed first: 0.7 GB."),
    ] = False,
    part: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=PARTS,
            help="Which eighth of what takes turns. Default: one chosen by commit, or by day with --next-jax.",
        ),
    ] = None,
) -> None:
    if gpu or tpu:
        hint = "--tpu" if tpu else "--gpu"
        if (gpu and tpu) or quick or every or next_jax or part:
            raise typer.BadParameter("it is a run of its own. Leave out the other options.", param_hint=hint)
        command = [sys.executable, "-m", "pytest", *_OPTIONS, _TPU if tpu else _GPU, *(arguments or [])]
        raise typer.Exit(0 if _passes(f"{hint[2:].upper()} tests", command) else 1)
    if quick and (every or next_jax or part):
        raise typer.BadParameter(
            "it does nothing that takes turns. Leave out --all, --part and --next-jax.", param_hint="--quick"
        )
    if every and part:
        raise typer.BadParameter("--all runs every part. Remove one of the two.", param_hint="--part")
    if next_jax:
        chosen = None if every else part or part_of_day(datetime.now(UTC))
        raise typer.Exit(_grade_with_next_jax(chosen, arguments or []))
    if not quick:
        _choose_submissions(None if every else part or part_of_commit())
        # Tests that are named run.
        if not (every or part or arguments):
            _leave_out_what_is_unchanged()
    failed = _failed_of(_QUICK_STEPS if quick else _STEPS)
    pytest = [sys.executable, "-m", "pytest", *_OPTIONS, *(_COVERAGE if coverage else ())]
    if quick:
        runs = {"quick tests": ["-m", "not slow", *(arguments or [])]}
    elif arguments:
        runs = {"tests": arguments}
    else:
        # After a batch of attacks, the suite inspects what is left on the machine, so nothing else may run meanwhile.
        runs = {"tests": ["--ignore", _GPU, "--ignore", _TPU, "--ignore", _HOSTILE], "hostile tests": [_HOSTILE]}
        # With --all or coverage, everything takes longer.
        if not (every or coverage):
            os.environ[CHECK] = "1"
    if coverage:
        (CHECKOUT / _COVERAGE_FILE).unlink(missing_ok=True)
    failed += [name for name, chosen in runs.items() if not _passes(name, [*pytest, *chosen])]
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
        raise typer.Exit(1)


def _grade_with_next_jax(part: int | None, arguments: list[str]) -> int:
    """Run the tests, and return the exit status."""
    pinned = dict(
        re.findall(r"^([\w-]+)==(\S+)$", (CHECKOUT / "next-jax.txt").read_text(encoding="utf-8"), re.MULTILINE)
    )
    others = {name: version for name in pinned if (version := importlib.metadata.version(name)) != pinned[name]}
    if others:
        installed = ", ".join(f"{name} {version}" for name, version in others.items())
        print(
            f"This virtual environment has {installed}, which differs from next-jax.txt. "
            "Use ./meshgrade, which creates the right one.",
            file=sys.stderr,
        )
        return 2
    print(f"JAX {pinned['jax']}, Python {platform.python_version()}.")
    _choose_submissions(part, "--next-jax ")
    os.environ["MESHGRADE_TEST_EVERY_REFERENCE"] = "1"
    return 0 if _passes("next JAX", [sys.executable, "-m", "pytest", *_OPTIONS, *_NEXT_JAX, *arguments]) else 1


def _choose_submissions(part: int | None, option: str = "") -> None:
    """Choose the submissions for the tests, and print which ones. `part` is None for all."""
    os.environ["MESHGRADE_TEST_PART"] = f"{part}/{PARTS}" if part else "all"
    if part:
        print(
            f"Of what takes turns (submissions, attacks, databases, numbers in texts, documentation), this is "
            f"part {part} of {PARTS}, with what the last commit changed. Attacks and databases are complete for what "
            f"changed since {base() or 'the first commit, because Git has no older one'}. "
            f"To run this part again, whatever has changed: ./meshgrade test {option}--part {part}",
            flush=True,
        )
    else:
        print("Running everything, with every submission that ships with the problems.", flush=True)


def _leave_out_what_is_unchanged() -> None:
    """Leave out work that nothing has changed for, and print it."""
    os.environ[ONLY_CHANGED] = "1"
    for reason in reasons():
        print(reason, flush=True)


def _failed_of(steps: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Run the steps, as many at a time as there are cores, and return the names of those that fail."""
    tools = Path(sys.executable).parent

    def failed(step: tuple[str, list[str]]) -> bool:
        name, (tool, *options) = step
        return not _passes(name, [str(tools / tool), *options], beside_others=True)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda step: (step[0], failed(step)), steps)
        return [name for name, is_failed in found if is_failed]


def _passes(name: str, command: list[str], *, beside_others: bool = False) -> bool:
    """Run a command. If others run at the same time, print its output only at the end, so that outputs do not mix."""
    started = time.monotonic()
    begins = f"== {name}\n"
    if not beside_others:
        print(begins, end="", flush=True)
        begins = ""
    output, errors = (subprocess.PIPE, subprocess.STDOUT) if beside_others else (None, None)
    done = subprocess.run(command, cwd=CHECKOUT, check=False, text=True, stdout=output, stderr=errors)
    outcome = "passed" if done.returncode == 0 else "FAILED"
    ends = f"== {name}: {outcome} in {time.monotonic() - started:.0f} s\n"
    print(f"{begins}{done.stdout or ''}{ends}", end="", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    app(prog_name="meshgrade test")
