"""Fill the tables of docs/performance.md from results.

Usage: python -m benchmarks.write_table FILE...

Each FILE was written by `./meshgrade bench --json`, or by one of `python -m benchmarks.lists`, `page_cost`, `soak`,
`fault_injection` and `workers` with `--json`; its keys show which. Only the text between `<!-- NAME: begin -->` and
`<!-- NAME: end -->` is replaced.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchmarkFailed
from benchmarks.figures import Results, Sheet, sheets_in
from benchmarks.workload import CHECKOUT
from grader.core.errors import MeshgradeError

_PAGE = CHECKOUT / "docs" / "performance.md"


def main(files: Sequence[str]) -> None:
    page = _PAGE.read_text()
    for file in files:
        for name, table in tables_of(json.loads(Path(file).read_text())).items():
            page = fill(page, name, table)
    _PAGE.write_text(page)


def tables_of(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown tables of these results, by the name of their place on the page."""
    if sheets := sheets_in(results):
        return {sheet.part: _figures(sheet, results) for sheet in sheets}
    if "lists" in results:
        return {"lists": _lists(results)}
    if "pages" in results:
        return {"pages": _pages(results)}
    if "soak" in results:
        return {"soak": _soak(results)}
    if "same" in results:
        return {"same": _same(results)}
    if "faults" in results:
        return {"faults": _faults_survived(results)}
    if "workers" in results:
        return {"workers": _workers(results)}
    raise BenchmarkFailed(f"results of an unknown kind, with the keys {', '.join(results)}")


def fill(page: str, name: str, table: str) -> str:
    """Put `table` in its place on the page. Raises `BenchmarkFailed` if the page does not have that place."""
    place = re.compile(f"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    filled, number = place.subn(lambda match: f"{match[1]}{table}\n{match[2]}", page)
    if number != 1:
        raise BenchmarkFailed(f"docs/performance.md has {number} places for the table '{name}', expected 1")
    return filled


def _figures(sheet: Sheet, results: Results) -> str:
    medians = [[title, f"{results[key]:,.0f}"] for title, key in sheet.medians]
    marks = {True: "yes", False: "**no**", None: ""}
    targets = [[each.title, each.target, each.shown(results), marks[each.reached(results)]] for each in sheet.targets]
    return "\n\n".join(
        (
            *([markdown([f"median of {sheet.medians_of}", "ms"], medians)] if medians else []),
            markdown(["figure", "target", "measured", "reached"], targets),
            f"Measured with `{results['submissions'][sheet.part]}` on {_machine(results)}. "
            f"Repetitions: {_listed(results['repetitions'][sheet.part])}.",
        )
    )


def _lists(results: Results) -> str:
    """One row for each path: milliseconds, CPU milliseconds and transactions, on each database."""
    on: dict[str, dict[str, list[float]]] = results["lists"]
    whiches = ("median ms", "p95 ms", "CPU ms", "transactions")
    heads = ["path", *(f"{name}, {which}" for name in on for which in whiches)]
    paths = next(iter(on.values()))
    rows = [[f"`{path}`", *(cell for each in on.values() for cell in _cells(each[path]))] for path in paths]
    told = f"{results['attempts']:,} attempts, {results['rounds']} requests of each path."
    return f"{markdown(heads, rows)}\n\n{told} Measured on {_machine(results)}."


def _cells(figures: Sequence[float]) -> list[str]:
    *milliseconds, transactions = figures
    return [*(f"{each:.1f}" for each in milliseconds), f"{transactions:g}"]


def _pages(results: Results) -> str:
    """One row for each kind of request: CPU milliseconds and hello-worlds, on each database, before and now."""
    on: dict[str, dict[str, dict[str, float]]] = results["pages"]
    hello = "hello-world"
    columns = [
        (f"{name}{', before' if label == 'beside' else ''}", measured)
        for name, labels in on.items()
        for label, measured in sorted(labels.items(), reverse=True)
    ]
    heads = ["CPU ms a request", *(f"{name}{unit}" for name, _ in columns for unit in ("", " (hello-worlds)"))]
    requests = next(iter(on.values()))["here"]
    rows = [
        [
            request if request == hello or " " in request else f"`{request}`",
            *(
                cell
                for _, measured in columns
                for cell in (f"{measured[request]:.3g}", f"{measured[request] / measured[hello]:.1f}")
            ),
        ]
        for request in requests
    ]
    return f"{markdown(heads, rows)}\n\n{results['attempts']:,} attempts. Measured on {_machine(results)}."


def _soak(results: Results) -> str:
    rows = results["soak"]
    heads = [name.replace("_", " ") for name in rows[0]]
    table = markdown(heads, [[f"{value:g}" for value in row.values()] for row in rows])
    kinds = f"{results['different']} different submissions in turn."
    told = f"{kinds} Memory grew by {results['growth_percent']} % after the first hundred. {_faults(results['faults'])}"
    return f"{table}\n\n{told} Measured on {_machine(results)}."


def _same(results: Results) -> str:
    same = results["same"]
    names = ", ".join(f"`{name}`" for name in same["submissions"])
    return (
        f"{same['times']} times quiet and {same['times']} times beside a busy loop, each of {names}: "
        f"{same['different']} verdicts differed. Measured on {_machine(results)}."
    )


def _faults_survived(results: Results) -> str:
    figures = {name.removeprefix("service.fault_"): value for name, value in results.items() if "." in name}
    told: dict[str, Any] = results["faults"]
    by_tries = {f"after {tries} tries": number for tries, number in told["attempts_by_tries"].items()}
    rows = [
        [name.replace("_", " "), f"{value}"]
        for name, value in (figures | told | by_tries).items()
        if name != "attempts_by_tries"
    ]
    return f"{markdown(['what', 'number'], rows)}\n\nMeasured on {_machine(results)}."


def _workers(results: Results) -> str:
    heads = ["workers", "verdicts/s", "CPU s of workers", "of the API", "of PostgreSQL", "transactions", "ratio to one"]
    rows = [[number, *(f"{value:g}" for value in figures.values())] for number, figures in results["workers"].items()]
    stored, held = results["stored"], _listed(results["connections"])
    told = (
        f"Graded by {results['grader']}, each worker on one core. CPU seconds and transactions are those of one "
        "submission; all are medians of the rounds."
    )
    return (
        f"{markdown(heads, rows)}\n\n{told} Rounds: {results['rounds']} of {results['count']} submissions each. "
        f"An attempt takes {stored['bytes_each']:,} bytes with all indices ({stored['rows']} rows; "
        f"its verdict {stored['verdict_characters']:,} characters). Connections: {held}. "
        f"Measured on {_machine(results)}."
    )


def _faults(faults: list[str]) -> str:
    return f"Faults: {'; '.join(faults)}." if faults else "No fault was found."


def _machine(results: Results) -> str:
    on = results["machine"]
    where = f"{on['cores']} cores of {on['cpu']}, Linux {on['kernel']}"
    return f"{on['date']}, on {where}, Python {on['python']}, JAX {on['jax']}"


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())


def markdown(heads: list[str], rows: Iterable[list[str]]) -> str:
    lines = [heads, ["---"] + ["--:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
