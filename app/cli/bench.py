"""`meshgrade bench`: how fast grading is, beside what it costs without us, on this machine and in one run."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

app = typer.Typer(pretty_exceptions_enable=False)


class Part(StrEnum):
    """What can be measured alone."""

    CALL = "call"


@app.command(
    help="Measure grading beside plain Python processes, in about five minutes. Leave the machine alone meanwhile."
)
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    only: Annotated[Part | None, typer.Option(help="Measure this part alone; today there is but one.")] = None,
    quick: Annotated[
        bool, typer.Option(help="Once each, public cases only: shows that it works; the figures say nothing.")
    ] = False,
) -> None:
    import time

    from rich.console import Console
    from rich.markup import escape

    from benchmarks.call import FULL, QUICK, measure

    started = time.monotonic()
    progress = Console(stderr=True, highlight=False)
    with progress.status("measuring"):
        results = measure(
            QUICK if quick else FULL,
            lambda phase: progress.print(
                f"[dim]{time.monotonic() - started:4.0f} s[/]  {escape(phase)}", soft_wrap=True
            ),
        )
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        _print(results)


def _print(results: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from benchmarks.figures import MEDIANS, TARGETS

    console = Console(highlight=False)
    medians = Table(title="One submission of fsdp_step, machine idle", title_justify="left")
    medians.add_column("what")
    medians.add_column("ms", justify="right")
    for title, key in MEDIANS:
        medians.add_row(title, f"{results[key]:,.0f}")
    console.print(medians)

    targets = Table(title="Targets", title_justify="left")
    for column in ("figure", "target", "here", "reached"):
        targets.add_column(column, justify="left" if column == "figure" else "right")
    for figure in TARGETS:
        mark = "[green]yes[/]" if figure.reached(results) else "[red]no[/]"
        targets.add_row(figure.title, figure.target, figure.shown(results), mark)
    console.print(targets)
    machine, repetitions = results["machine"], results["repetitions"]
    console.print(f"[dim]{', '.join(f'{name} {value}' for name, value in machine.items())}[/]")
    console.print(f"[dim]repetitions: {', '.join(f'{name} {value}' for name, value in repetitions.items())}[/]")
