"""Compute the tables of docs/scaling.md from the figures of docs/performance.md: `python -m benchmarks.scaling`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import BenchmarkFailed
from benchmarks.workload import CHECKOUT
from benchmarks.write_table import fill, markdown

_PERFORMANCE = CHECKOUT / "docs" / "performance.md"
_SCALING = CHECKOUT / "docs" / "scaling.md"
# The share of a day's submissions in its busiest hour, the share of that hour in which cores are busy, and the share of
# submissions in `call` mode.
_BUSIEST_HOUR, _BUSY, _CALL = 0.2, 0.6, 0.5
_DAYS = (1_000, 100_000, 10_000_000)
_WORKER_CORES, _ONE_MACHINE = 8, 2
# Pages that a student opens for each submission: the problem, its list, the attempt, and what is behind them.
_PAGES = 6
# Classes that submit within so many seconds, and the machines on which the last verdict is waited for.
_CLASSES, _WITHIN_S = (50, 500, 5_000), 10
_MACHINES = (2, 8, 32)
# A class should have its last verdict within this time. A further machine pays where one does not do that.
_PATIENCE_S = 300.0


@dataclass(frozen=True, slots=True)
class Costs:
    """What one submission costs on the machines of docs/performance.md: CPU seconds of a worker in each mode, and CPU
    milliseconds of an API process for a page and a POST, on SQLite and on PostgreSQL."""

    call_cpu_s: float
    program_cpu_s: float
    page_cpu_ms: dict[str, float]
    post_cpu_ms: dict[str, float]

    @property
    def mean_cpu_s(self) -> float:
        return _CALL * self.call_cpu_s + (1 - _CALL) * self.program_cpu_s

    def row(self, per_day: int) -> list[str]:
        """The busiest hour of a day with this many submissions."""
        per_s = per_day * _BUSIEST_HOUR / 3600
        cores = per_s * self.mean_cpu_s / _BUSY
        pages = per_s * _PAGES
        serving = pages * self.page_cpu_ms["postgresql"] / 1000 / _BUSY
        workers = (
            f"none: `serve` on a machine with {_ONE_MACHINE} cores, SQLite"
            if cores + serving <= _ONE_MACHINE * _BUSY
            else f"{-(-cores // _WORKER_CORES):,.0f}, PostgreSQL"
        )
        return [f"{per_day:,}", _rate(per_s), _whole(cores), workers, _rate(pages), _whole(serving)]

    @property
    def _requests_cpu_s(self) -> float:
        """What one student of a class asks of the server that answers."""
        return (_PAGES * self.page_cpu_ms["sqlite"] + self.post_cpu_ms["sqlite"]) / 1000

    def largest_class(self, cores: int) -> int:
        """How many students one machine gives the last verdict within `_PATIENCE_S`, rounded down to tens."""
        return int(_PATIENCE_S * cores / (self.mean_cpu_s + self._requests_cpu_s) // 10 * 10)

    def class_row(self, students: int) -> list[str]:
        """A class that submits within `_WITHIN_S`: what its requests take of a core, and when it has its last verdict.

        Each student opens `_PAGES` pages and posts once. Grading has the other cores.
        """
        requests_s = students * self._requests_cpu_s
        waits_s = [(students * self.mean_cpu_s + requests_s) / cores for cores in _MACHINES]
        needed = students * self.mean_cpu_s / _PATIENCE_S
        enough = next(
            (f"one with {cores} cores" for cores, each in zip(_MACHINES, waits_s, strict=True) if each <= _PATIENCE_S),
            None,
        )
        machines = enough or f"{-(-needed // _WORKER_CORES):,.0f} with {_WORKER_CORES} cores, PostgreSQL"
        return [f"{students:,}", f"{requests_s / _WITHIN_S:.2g}", *map(_duration, waits_s), machines]


def _duration(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def _rate(per_s: float) -> str:
    return f"{per_s:.2g} /s" if per_s < 10 else f"{per_s:,.0f} /s"


def _whole(cores: float) -> str:
    """Round up, because nobody buys part of a core."""
    return f"{-(-cores // 1):,.0f}"


def measured(page: str) -> Costs:
    """Read docs/performance.md. Raises `BenchmarkFailed` if a table lacks a figure."""
    pages = _block(page, "pages")
    databases = ("sqlite", "postgresql")
    return Costs(
        call_cpu_s=_number(_block(page, "call"), r"\| CPU seconds a submission \|[^|]*\| ([\d.,]+) s"),
        program_cpu_s=_number(_block(page, "program"), r"\| CPU seconds a submission \|[^|]*\| ([\d.,]+) s"),
        page_cpu_ms={name: _cell(pages, "`/problems/{slug}`", name) for name in databases},
        post_cpu_ms={name: _cell(pages, "POST of an attempt", name) for name in databases},
    )


def table(costs: Costs) -> str:
    heads = ["per day", "in the busiest hour", "cores that grade", "workers with 8 cores", "pages", "API processes"]
    told = (
        f"From {costs.call_cpu_s:g} and {costs.program_cpu_s:g} CPU seconds a submission in the modes `call` and "
        f"`program`, and {costs.page_cpu_ms['postgresql']:g} CPU milliseconds a page."
    )
    return f"{markdown(heads, [costs.row(each) for each in _DAYS])}\n\n{told}"


def table_of_classes(costs: Costs) -> str:
    last = [f"last verdict, {cores} cores" for cores in _MACHINES]
    heads = ["students", f"cores that answer, for {_WITHIN_S} s", *last, "machines"]
    told = (
        f"From the same CPU seconds, {costs.page_cpu_ms['sqlite']:g} CPU milliseconds a page and "
        f"{costs.post_cpu_ms['sqlite']:g} a POST. *machines* is what gives the last verdict within "
        f"{_duration(_PATIENCE_S)}. One machine does that for up to {_counts([*map(costs.largest_class, _MACHINES)])} "
        f"students with {_counts(_MACHINES)} cores; beyond that, a further machine pays."
    )
    return f"{markdown(heads, [costs.class_row(each) for each in _CLASSES])}\n\n{told}"


def _counts(numbers: Sequence[int]) -> str:
    *others, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(others)} and {last}"


def _cell(block: str, row: str, column: str) -> float:
    """A figure of a table. Raises `BenchmarkFailed` if it has no such row or column."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if line[:1] == "|"]
    found = next((line for line in lines if line[0] == row), None)
    if found is None or column not in lines[0]:
        raise BenchmarkFailed(
            f"docs/performance.md has no figure for {row}, {column}: measure again, and write its table"
        )
    return float(found[lines[0].index(column)].replace(",", ""))


def _block(page: str, name: str) -> str:
    found = re.search(f"<!-- {name}: begin -->(.*?)<!-- {name}: end -->", page, re.DOTALL)
    if found is None:
        raise BenchmarkFailed(f"docs/performance.md has no table '{name}'")
    return found[1]


def _number(block: str, pattern: str) -> float:
    found = re.search(pattern, block)
    if found is None:
        raise BenchmarkFailed(f"docs/performance.md has no figure {pattern}: measure again, and write its table")
    return float(found[1].replace(",", ""))


def computed(performance: Path = _PERFORMANCE, scaling: Path = _SCALING) -> str:
    """docs/scaling.md with the tables that follow from docs/performance.md."""
    costs = measured(performance.read_text())
    page = fill(scaling.read_text(), "workers", table(costs))
    return fill(page, "classes", table_of_classes(costs))


if __name__ == "__main__":
    _SCALING.write_text(computed())
