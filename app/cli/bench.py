"""`meshgrade bench`: how fast grading is, beside what it costs without us, on this machine and in one run."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.cli.checkout import require_in_checkout

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
    import time

    require_in_checkout("bench", folders=("benchmarks", "problems"))

    from rich.console import Console
    from rich.markup import escape

    from benchmarks.parts import measure_parts

    started = time.monotonic()
    progress = Console(stderr=True, highlight=False)
    with progress.status("measuring"):
        results = measure_parts(
            [only] if only else list(Part),
            lambda phase: progress.print(
                f"[dim]{time.monotonic() - started:4.0f} s[/]  {escape(phase)}", soft_wrap=True
            ),
            quick=quick,
        )
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        _print(results)


def _print(results: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from benchmarks.figures import sheets_in

    console = Console(highlight=False)
    marks = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}
    for sheet in sheets_in(results):
        submission, repetitions = results["submissions"][sheet.part], results["repetitions"][sheet.part]
        medians = Table(title=f"{sheet.title}: {submission}; medians of {sheet.medians_of}", title_justify="left")
        medians.add_column("what")
        medians.add_column("ms", justify="right")
        for title, key in sheet.medians:
            medians.add_row(title, f"{results[key]:,.0f}")
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
