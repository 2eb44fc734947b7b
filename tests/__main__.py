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
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from benchmarks import house
from tests.cpu_budget import CHECK
from tests.grader.shipped_submissions import NEXT_JAX
from tests.pytest_runs import FIXED_ORDER, Outcome, faults_of, run
from tests.rotation import PARTS, run_parts
from tests.selection import EVERYTHING, base, git
from tests.unchanged import ATTACKS, ONLY_CHANGED, due, reasons

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
# Each has a run of its own, with a compiler that is not part of the set-up.
_GPU, _TPU = "tests/gpu", "tests/tpu"
_ELSEWHERE = ("--ignore", _GPU, "--ignore", _TPU, "--ignore", _HOSTILE)
# Name, arguments, and the kind of work (tests/unchanged.py) that is all of it. After a batch of attacks, the suite
# inspects what is left on the machine, so nothing else may run beside them.
_RUNS: tuple[tuple[str, tuple[str, ...], str | None], ...] = (
    ("tests", _ELSEWHERE, None),
    ("hostile tests", (_HOSTILE,), ATTACKS),
)
# What depends most on JAX: private names, what programs can contain, references, and students' submissions.
_NEXT_JAX = (
    *("tests/grader/confined/test_private_jax.py", "tests/grader/verifier/test_operations.py"),
    *("tests/grader/verifier/test_kernels.py", "tests/grader/verifier/test_element_types.py"),
    *("tests/grader/test_call_verdicts.py", "tests/grader/test_program_verdicts.py"),
)
# As many processes as there are cores.
_PROCESSES = ("-n", str(os.cpu_count() or 1))
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
            help="Run everything, in parts, the one that ran longest ago first: every submission that ships with a "
            "problem, and all else that is drawn or left out. To continue after an interruption, call it again.",
        ),
    ] = False,
    parts: Annotated[
        int | None,
        typer.Option(min=1, max=len(PARTS), help="With --all: run only so many parts."),
    ] = None,
    next_jax: Annotated[
        bool,
        typer.Option(
            "--next-jax",
            help="Grade with the JAX of next-jax.txt instead: one reference in four, or with --all every submission.",
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
) -> None:
    if (gpu or tpu) and ((gpu and tpu) or quick or every or next_jax):
        raise typer.BadParameter("it is a run of its own. Leave out the other options.", param_hint=_chip(tpu))
    if quick and (every or next_jax):
        raise typer.BadParameter("it runs no slow test. Leave out --all and --next-jax.", param_hint="--quick")
    if parts and (not every or next_jax):
        raise typer.BadParameter("only --all has parts.", param_hint="--parts")
    more = arguments or []
    if gpu or tpu:
        chosen = [_TPU if tpu else _GPU, *more]
        _exit(faults_of(run(f"{_chip(tpu)[2:].upper()} tests", [*_PROCESSES, *FIXED_ORDER], chosen)))
    if next_jax:
        _exit(_grade_with_next_jax(more, every=every))
    failed = [f"{name} failed." for name in _failed_of(_QUICK_STEPS if quick else _STEPS)]
    options = [*_PROCESSES, *(_COVERAGE if coverage else ())]
    if coverage:
        (CHECKOUT / _COVERAGE_FILE).unlink(missing_ok=True)
    if every:
        # Run in random order, to find tests that depend on one another.
        _exit([*failed, *run_parts(parts, [*options, *more])])
    options += FIXED_ORDER
    if quick:
        found = run("quick tests", options, ["-m", "not slow", *more])
    elif more:
        found = run("tests", options, more)
    else:
        _say_what_runs(is_measured=not coverage)
        found = Outcome()
        for name, which, work in _RUNS:
            # pytest fails if all that it collects is left out.
            if work is None or due(work):
                found.add(run(name, options, which))
        print(f"== size and uniformity of the service\n{house.report()}", flush=True)
    _exit([*failed, *faults_of(found)])


def _chip(is_tpu: bool) -> str:
    return "--tpu" if is_tpu else "--gpu"


def _exit(faults: list[str]) -> NoReturn:
    for each in faults:
        print(f"FAILED: {each}", file=sys.stderr)
    raise typer.Exit(1 if faults else 0)


def _say_what_runs(*, is_measured: bool) -> None:
    """Print which tests a complete run has, and leave out work that nothing has changed for."""
    tree, commit = git("rev-parse", "HEAD^{tree}"), git("rev-parse", "HEAD")
    edited = " and uncommitted changes" if git("status", "--porcelain") else ""
    print(
        f"Tree {tree}{edited}, compared with {base() or 'nothing, so that everything counts as changed'}. "
        f"To repeat this run: git checkout {commit} && ./meshgrade test",
        flush=True,
    )
    os.environ[ONLY_CHANGED] = "1"
    # Check the budgets only without coverage, which takes more time.
    if is_measured:
        os.environ[CHECK] = "1"
    for reason in reasons():
        print(reason, flush=True)


def _grade_with_next_jax(arguments: list[str], *, every: bool) -> list[str]:
    """Run the tests, and return why they fail."""
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
        raise typer.Exit(2)
    print(f"JAX {pinned['jax']}, Python {platform.python_version()}.", flush=True)
    environment = {NEXT_JAX: "1", **({EVERYTHING: "1"} if every else {})}
    return faults_of(run("next JAX", [*_PROCESSES, *FIXED_ORDER], [*_NEXT_JAX, *arguments], environment))


def _failed_of(steps: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Run the steps, as many at a time as there are cores, and return the names of those that fail."""
    tools = Path(sys.executable).parent

    def failed(step: tuple[str, list[str]]) -> bool:
        name, (tool, *options) = step
        return not _passes(name, [str(tools / tool), *options])

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda step: (step[0], failed(step)), steps)
        return [name for name, is_failed in found if is_failed]


def _passes(name: str, command: list[str]) -> bool:
    """Run a command beside others. Print its output only at the end, so that outputs do not mix."""
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=CHECKOUT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    outcome = "passed" if done.returncode == 0 else "FAILED"
    took = time.monotonic() - started
    print(f"== {name}\n{done.stdout}== {name}: {outcome} in {took:.0f} s\n", end="", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    app(prog_name="meshgrade test")
