"""The program behind `./meshgrade bench`: measures the parts, reports progress to stderr, and prints the figures."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.errors import explain
from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import sheets_in
from benchmarks.parts import PARTS, measure_parts
from benchmarks.web import chromium
from grader.errors import MeshgradeError


def main() -> int:
    """Return the exit status: 0 measured, 2 failed, 130 stopped by Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; without any, all of them")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="measure each figure only once, to try the command out; the figures mean nothing",
    )
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    started = time.monotonic()
    progress = Console(stderr=True, highlight=False)

    def say(phase: str) -> None:
        progress.print(f"[dim]{time.monotonic() - started:4.0f} s[/]  {escape(phase)}", soft_wrap=True)

    try:
        parts = given.parts or _possible(say)
        with progress.status("measuring"):
            results = measure_parts(parts, say, quick=given.quick)
    except MeshgradeError as error:
        explain(error)
        return 2
    except KeyboardInterrupt:
        return 130
    if given.json:
        print(json.dumps(results, indent=2))
    else:
        _print(results)
    for part, failure in results["failures"].items():
        explain(BenchmarkFailed(f"{part} was not measured: {failure}"))
    return 2 if results["failures"] else 0


def _possible(say: Callable[[str], None]) -> list[str]:
    """All parts, or all but the page if there is no browser for it: half an hour of figures is worth having."""
    try:
        chromium()
    except BenchmarkFailed as missing:
        say(f"web: left out. {missing}")
        return [part for part in PARTS if part != "web"]
    return list(PARTS)


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
    sys.exit(main())
