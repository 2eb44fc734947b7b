"""`meshgrade test`: lint, formatting, types, import rules, then every test."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from app.cli.private import CHECKOUT

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_STEPS = (
    ("lint", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy", "app", "grader"]),
    ("import rules", ["lint-imports", "--no-cache", "--no-logo"]),
)
_HOSTILE = "tests/hostile"


@app.command(
    name="test",
    help="Run lint, format, types, import rules and all tests. Arguments after -- go to pytest.",
    context_settings={"ignore_unknown_options": True},
)
def run_tests(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- PYTEST_ARGUMENTS]")] = None,
    every_submission: Annotated[
        bool,
        typer.Option("--every-submission", help="Judge every submission that ships with a problem, not one a reason."),
    ] = False,
) -> None:
    if every_submission:
        os.environ["MESHGRADE_TEST_EVERY_SUBMISSION"] = "1"
    tools = Path(sys.executable).parent
    failed = [name for name, (tool, *options) in _STEPS if not _passes(name, [str(tools / tool), *options])]
    pytest = [sys.executable, "-m", "pytest", "-n", str(os.cpu_count() or 1)]
    # After each attack the suite looks at what is left on the machine, so it runs when nothing else does.
    runs = {"tests": ["--ignore", _HOSTILE], "hostile tests": [_HOSTILE]} if not arguments else {"tests": arguments}
    failed += [name for name, chosen in runs.items() if not _passes(name, [*pytest, *chosen])]
    if failed:
        print(f"Not passed: {', '.join(failed)}.", file=sys.stderr)
        raise typer.Exit(1)


def _passes(name: str, command: list[str]) -> bool:
    started = time.monotonic()
    print(f"== {name}", flush=True)
    code = subprocess.run(command, cwd=CHECKOUT, check=False).returncode
    print(f"== {name}: {'passed' if code == 0 else 'NOT passed'} in {time.monotonic() - started:.0f} s", flush=True)
    return code == 0
