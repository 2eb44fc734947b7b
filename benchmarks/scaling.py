"""Compute the table of docs/scaling.md from the figures of docs/performance.md: `python -m benchmarks.scaling`."""

import re
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


@dataclass(frozen=True, slots=True)
class Costs:
    """What one submission costs on the machine of docs/performance.md: CPU seconds of a worker in each mode, and
    milliseconds of an API process for a page on PostgreSQL."""

    call_cpu_s: float
    program_cpu_s: float
    page_cpu_ms: float

    @property
    def mean_cpu_s(self) -> float:
        return _CALL * self.call_cpu_s + (1 - _CALL) * self.program_cpu_s

    def row(self, per_day: int) -> list[str]:
        """The busiest hour of a day with this many submissions."""
        per_s = per_day * _BUSIEST_HOUR / 3600
        cores = per_s * self.mean_cpu_s / _BUSY
        pages = per_s * _PAGES
        serving = pages * self.page_cpu_ms / 1000 / _BUSY
        workers = (
            f"none: `serve` on a machine with {_ONE_MACHINE} cores, SQLite"
            if cores + serving <= _ONE_MACHINE * _BUSY
            else f"{-(-cores // _WORKER_CORES):,.0f}, PostgreSQL"
        )
        return [f"{per_day:,}", _rate(per_s), _whole(cores), workers, _rate(pages), _whole(serving)]


def _rate(per_s: float) -> str:
    return f"{per_s:.2g} /s" if per_s < 10 else f"{per_s:,.0f} /s"


def _whole(cores: float) -> str:
    """Round up, because nobody buys part of a core."""
    return f"{-(-cores // 1):,.0f}"


def measured(page: str) -> Costs:
    """Read docs/performance.md. Raises `BenchmarkFailed` if a table lacks a figure."""
    return Costs(
        call_cpu_s=_number(_block(page, "call"), r"\| CPU seconds a submission \|[^|]*\| ([\d.,]+) s"),
        program_cpu_s=_number(_block(page, "program"), r"\| CPU seconds a submission \|[^|]*\| ([\d.,]+) s"),
        page_cpu_ms=_number(_block(page, "lists"), r"\| `/problems/{slug}` \|(?:[^|]*\|){6} ([\d.,]+) \|"),
    )


def table(costs: Costs) -> str:
    heads = ["per day", "in the busiest hour", "cores that grade", "workers with 8 cores", "pages", "API processes"]
    told = (
        f"From {costs.call_cpu_s:g} and {costs.program_cpu_s:g} CPU seconds a submission in the modes `call` and "
        f"`program`, and {costs.page_cpu_ms:g} CPU milliseconds a page."
    )
    return f"{markdown(heads, [costs.row(each) for each in _DAYS])}\n\n{told}"


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
    """docs/scaling.md with the table that follows from docs/performance.md."""
    return fill(scaling.read_text(), "workers", table(measured(performance.read_text())))


if __name__ == "__main__":
    _SCALING.write_text(computed())
