"""The program behind `./meshgrade bench`: measures the parts, reports progress to stderr, and prints the figures."""

import json
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.entry.cli.errors import explain
from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import sheets_in
from benchmarks.lens import compiler_for_gpus
from benchmarks.parts import PARTS, measure_parts
from benchmarks.problem_page import chromium
from grader.core.errors import MeshgradeError

# The parts that `--only` accepts.
Part = StrEnum("Part", {name.upper(): name for name in PARTS})
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


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
    """Exit with 0 if everything was measured, 2 if a part failed, 130 after Ctrl-C."""
    started = time.monotonic()
    progress = Console(stderr=True, highlight=False)

    def say(phase: str) -> None:
        progress.print(f"[dim]{time.monotonic() - started:4.0f} s[/]  {escape(phase)}", soft_wrap=True)

    try:
        parts = [only.value] if only else _possible(say)
        with progress.status("measuring"):
            results = measure_parts(parts, say, quick=quick)
    except MeshgradeError as error:
        explain(error)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        _print(results)
    for part, failure in results["failures"].items():
        explain(BenchmarkFailed(f"{part} was not measured: {failure}"))
    if results["failures"]:
        raise typer.Exit(2)


def _possible(say: Callable[[str], None]) -> list[str]:
    """Return all parts except those whose requirements are missing, so that the others are still measured."""
    possible = list(PARTS)
    for part, need in (("web", chromium), ("lens", compiler_for_gpus)):
        try:
            need()
        except BenchmarkFailed as missing:
            say(f"{part}: left out. {missing}")
            possible.remove(part)
    return possible


def _print(results: Mapping[str, Any]) -> None:
    console = Console(highlight=False)
    marks = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}
    for sheet in sheets_in(results):
        submission, repetitions = results["submissions"][sheet.part], results["repetitions"][sheet.part]
        medians = Table(title=f"{sheet.title}: {submission}; medians of {sheet.medians_of}", title_justify="left")
        medians.add_column("what")
        medians.add_column("ms", justify="right")
        for title, key in sheet.medians:
            medians.add_row(title, f"{results[key]:,.0f}")
        if sheet.medians:
            console.print(medians)

        targets = Table(title=f"Targets: {sheet.title.lower()}", title_justify="left")
        for column in ("figure", "target", "here", "reached"):
            targets.add_column(column, justify="left" if column == "figure" else "right")
        for figure in sheet.targets:
            targets.add_row(figure.title, figure.target, figure.shown(results), marks[figure.reached(results)])
        console.print(targets)
        console.print(f"[dim]repetitions: {_listed(repetitions)}[/]\n")
    console.print(f"[dim]{_listed(results['machine'])}[/]")


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


if __name__ == "__main__":
    app(prog_name="meshgrade bench")
