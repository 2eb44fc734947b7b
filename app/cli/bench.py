"""`meshgrade bench`: how fast grading is, beside what it costs without us, on this machine and in one run."""

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.checkout import CHECKOUT, require_in_checkout

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Part(StrEnum):
    """What can be measured alone: grading in one of the modes, the service around it, or submissions that differ."""

    CALL = "call"
    PROGRAM = "program"
    SERVICE = "service"
    DIVERSE = "diverse"


@app.command(
    help="Measure grading beside plain Python processes, in about half an hour. Leave the machine alone meanwhile."
)
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    only: Annotated[Part | None, typer.Option(help="Measure this part alone.")] = None,
    quick: Annotated[
        bool, typer.Option(help="Once each, public cases only: shows that it works; the figures say nothing.")
    ] = False,
) -> None:
    require_in_checkout("bench", folders=("benchmarks", "problems"))
    options = [*([only.value] if only else []), *(["--json"] if as_json else []), *(["--quick"] if quick else [])]
    # This process becomes the measuring one: the service imports no benchmark, and Ctrl-C reaches it as before.
    os.execve(
        sys.executable, [sys.executable, "-m", "benchmarks", *options], {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    )
