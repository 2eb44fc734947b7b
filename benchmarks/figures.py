"""The figures with what they have to reach, for the table on a terminal and the one in docs/performance.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Results = Mapping[str, Any]
KEYS = tuple(
    "call.bare_ms_p50 call.bare_cached_ms_p50 call.limit_ms_p50 call.ours_ms_p50 call.ours_ms_p95 call.speedup "
    "call.speedup_cached call.throughput_ratio call.cpu_ratio call.walls_ms call.warm_fork_private_mb "
    "call.cold_ms_p50".split()
)


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` reads it from the results; None where it could not be measured, which reaches nothing."""

    title: str
    value: Callable[[Results], float | None]
    kind: Literal["at least", "at most"]
    bound: float
    unit: str = ""

    def reached(self, results: Results) -> bool:
        value = self.value(results)
        if value is None:
            return False
        return value >= self.bound if self.kind == "at least" else value <= self.bound

    def shown(self, results: Results) -> str:
        value = self.value(results)
        return "not measured" if value is None else f"{_round(value)}{self.unit}"

    @property
    def target(self) -> str:
        return f"{self.kind} {_round(self.bound)}{self.unit}"


def _key(name: str) -> Callable[[Results], float | None]:
    return lambda results: results[name]


TARGETS = (
    Figure("Idle: median bare / median ours", _key("call.speedup"), "at least", 40),
    Figure("Idle: median bare cached / median ours", _key("call.speedup_cached"), "at least", 12),
    Figure(
        "Idle: p95 ours / median ours", lambda all_: all_["call.ours_ms_p95"] / all_["call.ours_ms_p50"], "at most", 2.5
    ),
    Figure(
        "Idle: median ours - median limit",
        lambda all_: all_["call.ours_ms_p50"] - all_["call.limit_ms_p50"],
        "at most",
        150,
        " ms",
    ),
    Figure("Sustained: submissions/s, ours / bare", _key("call.throughput_ratio"), "at least", 5),
    Figure("CPU seconds a submission, ours / bare", _key("call.cpu_ratio"), "at most", 0.2),
    Figure("Walls: the same fork with and without", _key("call.walls_ms"), "at most", 20, " ms"),
    Figure("Private memory of an idle warm fork", _key("call.warm_fork_private_mb"), "at most", 160, " MiB"),
    Figure("Pool empty: the next verdict", _key("call.cold_ms_p50"), "at most", 3000, " ms"),
)
MEDIANS = (
    ("Bare: a fresh `python` for each submission", "call.bare_ms_p50"),
    ("Bare, with a warm compilation cache of its own", "call.bare_cached_ms_p50"),
    ("Limit: once more in a process that has run them", "call.limit_ms_p50"),
    ("Ours: POST to verdict, behind walls", "call.ours_ms_p50"),
    ("Ours, the slowest twentieth begins at", "call.ours_ms_p95"),
)


def _round(value: float) -> str:
    """Three figures are all that one run can vouch for."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
