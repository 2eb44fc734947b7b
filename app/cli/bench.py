"""`meshgrade bench`: how fast grading is on this machine, compared with plain Python in the same run."""

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.checkout import CHECKOUT, require_in_checkout

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Part(StrEnum):
    """A part that can be measured alone: grading in one mode, the service around it, varied submissions, or a page."""

    CALL = "call"
    PROGRAM = "program"
    SERVICE = "service"
    DIVERSE = "diverse"
    EXPLORE = "explore"
    WEB = "web"


@app.command(
    help="Compare grading with plain Python processes. Takes about half an hour; keep the machine otherwise idle."
)
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    only: Annotated[Part | None, typer.Option(help="Measure only this part.")] = None,
    quick: Annotated[
        bool, typer.Option(help="Run each part once on public cases, to show that it works. The figures mean nothing.")
    ] = False,
) -> None:
    require_in_checkout("bench", folders=("benchmarks", "problems"))
    options = [*([only.value] if only else []), *(["--json"] if as_json else []), *(["--quick"] if quick else [])]
    # This process becomes the benchmark: the service imports no benchmark, and Ctrl-C still reaches it.
    os.execve(
        sys.executable, [sys.executable, "-m", "benchmarks", *options], {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    )
