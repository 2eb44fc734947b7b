"""The figures and their targets, for the table on a terminal and the one in docs/performance.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Results = Mapping[str, Any]
_KEYS = (
    "bare_ms_p50 bare_cached_ms_p50 limit_ms_p50 ours_ms_p50 ours_ms_p95 speedup speedup_cached throughput_ratio "
    "cpu_ratio cpu_s warm_fork_private_mb cold_ms_p50"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` reads the figure from the results. It is None if it could not be measured, which misses every target.

    A figure without a bound has no target and is only shown.
    """

    title: str
    value: Callable[[Results], float | None]
    kind: Literal["at least", "at most"] = "at most"
    bound: float | None = None
    unit: str = ""

    def reached(self, results: Results) -> bool | None:
        value = self.value(results)
        if self.bound is None:
            return None
        if value is None:
            return False
        return value >= self.bound if self.kind == "at least" else value <= self.bound

    def shown(self, results: Results) -> str:
        value = self.value(results)
        return "not measured" if value is None else f"{_round(value)}{self.unit}"

    @property
    def target(self) -> str:
        return "none" if self.bound is None else f"{self.kind} {_round(self.bound)}{self.unit}"


@dataclass(frozen=True, slots=True)
class Sheet:
    """All figures of one part: their keys, the milliseconds that are only shown, and the targets."""

    part: str
    title: str
    medians_of: str
    keys: tuple[str, ...]
    medians: tuple[tuple[str, str], ...]
    targets: tuple[Figure, ...]


def _key(name: str) -> Callable[[Results], float | None]:
    return lambda results: results[name]


def _keys(part: str, names: str) -> tuple[str, ...]:
    return tuple(f"{part}.{name}" for name in names.split())


CALL = Sheet(
    part="call",
    title="Mode call",
    medians_of="one submission, machine idle",
    keys=_keys(
        "call",
        f"{_KEYS} walls_ms import_ms_p50 calls_ms_p50 compare_ms_p50 fork_ms_p50 service_ms_p50",
    ),
    medians=(
        ("Bare: a fresh `python` for each submission", "call.bare_ms_p50"),
        ("Bare, with a warm compilation cache of its own", "call.bare_cached_ms_p50"),
        ("Limit: once more in a process that has run them", "call.limit_ms_p50"),
        ("Ours: POST to verdict, behind walls", "call.ours_ms_p50"),
        ("Ours, the slowest twentieth begins at", "call.ours_ms_p95"),
        ("Of ours: HTTP, line, database", "call.service_ms_p50"),
        ("Of ours: a warm fork gets its limits", "call.fork_ms_p50"),
        ("Of ours: reading the source", "call.import_ms_p50"),
        ("Of ours: the calls", "call.calls_ms_p50"),
        ("Of ours: comparison", "call.compare_ms_p50"),
    ),
    targets=(
        Figure("Idle: median bare / median ours", _key("call.speedup"), "at least", 70),
        Figure("Idle: median bare cached / median ours", _key("call.speedup_cached"), "at least", 12),
        Figure(
            "Idle: p95 ours / median ours",
            lambda all_: all_["call.ours_ms_p95"] / all_["call.ours_ms_p50"],
            "at most",
            2.5,
        ),
        Figure(
            "Idle: median ours - median limit",
            lambda all_: all_["call.ours_ms_p50"] - all_["call.limit_ms_p50"],
            "at most",
            50,
            " ms",
        ),
        Figure("Sustained: submissions/s, ours / bare", _key("call.throughput_ratio"), "at least", 5),
        Figure("CPU seconds a submission, ours / bare", _key("call.cpu_ratio"), "at most", 0.2),
        Figure("CPU seconds a submission", _key("call.cpu_s"), "at most", 0.5, " s"),
        Figure("Walls: the same fork with and without", _key("call.walls_ms"), "at most", 20, " ms"),
        Figure("Private memory of an idle warm fork", _key("call.warm_fork_private_mb"), "at most", 160, " MiB"),
        Figure("Pool empty: the next verdict", _key("call.cold_ms_p50"), "at most", 3000, " ms"),
    ),
)
PROGRAM = Sheet(
    part="program",
    title="Mode program",
    medians_of="one submission, machine idle",
    keys=_keys("program", f"{_KEYS} export_ms_p50 verify_ms_p50 again_ms_p50 again_verify_ms_p50"),
    medians=(
        ("Bare: a fresh `python` for each submission", "program.bare_ms_p50"),
        ("Bare, with a warm compilation cache of its own", "program.bare_cached_ms_p50"),
        ("Limit: traced and compiled once more in a warm process", "program.limit_ms_p50"),
        ("Ours: POST to verdict, behind walls", "program.ours_ms_p50"),
        ("Ours, the slowest twentieth begins at", "program.ours_ms_p95"),
        ("Of ours: export for both meshes, in the student's sandbox", "program.export_ms_p50"),
        ("Of ours: what is left to verify and to check after that", "program.verify_ms_p50"),
        ("Ours, programs that were verified before", "program.again_ms_p50"),
        ("Of that: what is left to verify and to check", "program.again_verify_ms_p50"),
    ),
    targets=(
        Figure("Idle: median bare / median ours", _key("program.speedup"), "at least", 4),
        Figure("Idle: median bare cached / median ours", _key("program.speedup_cached")),
        Figure("Idle: median ours", _key("program.ours_ms_p50"), "at most", 450, " ms"),
        Figure("Idle: median ours, known programs", _key("program.again_ms_p50"), "at most", 450, " ms"),
        Figure("Of that: verifying known programs", _key("program.again_verify_ms_p50"), "at most", 50, " ms"),
        Figure("Idle: median export in the student's sandbox", _key("program.export_ms_p50"), "at most", 400, " ms"),
        Figure("Sustained: submissions/s, ours / bare", _key("program.throughput_ratio"), "at least", 3),
        Figure("CPU seconds a submission, ours / bare", _key("program.cpu_ratio")),
        Figure("CPU seconds a submission", _key("program.cpu_s"), unit=" s"),
        Figure("Private memory of an idle warm fork", _key("program.warm_fork_private_mb"), unit=" MiB"),
        Figure("Pool and verifiers gone: the next verdict", _key("program.cold_ms_p50"), unit=" ms"),
    ),
)
SERVICE = Sheet(
    part="service",
    title="The service around grading",
    medians_of="one request, a class submitting",
    keys=_keys(
        "service",
        "problems_per_s problems_ratio post_ms_p50 post_ms_p95 page_ms_p50 page_ms_p95 judged_per_s judged lost "
        "alone_per_s judged_share",
    ),
    medians=(
        ("POST of a submission, until it is stored and queued", "service.post_ms_p50"),
        ("A page, or the list over REST", "service.page_ms_p50"),
    ),
    targets=(
        Figure("The class: p95 of the POSTs", _key("service.post_ms_p95"), "at most", 250, " ms"),
        Figure("The class: p95 of the pages", _key("service.page_ms_p95"), "at most", 250, " ms"),
        Figure("The class: submissions without a verdict", _key("service.lost"), "at most", 0),
        Figure("The class: submissions judged", _key("service.judged")),
        Figure("The class: submissions judged a second", _key("service.judged_per_s"), "at least", 3),
        Figure("The same submissions, with no class: judged a second", _key("service.alone_per_s")),
        Figure(
            "The class: submissions judged a second, of those with no class",
            _key("service.judged_share"),
            "at least",
            0.85,
        ),
        Figure(
            "`GET /problems`: requests/s, ours / a bare hello-world", _key("service.problems_ratio"), "at least", 0.5
        ),
        Figure("`GET /problems`: requests/s", _key("service.problems_per_s")),
    ),
)


DIVERSE = Sheet(
    part="diverse",
    title="Different submissions",
    medians_of="one submission, each another one",
    keys=_keys("diverse", "ours_ms_p50 ours_ms_p95 one_ms_p50 one_ms_p95 two_ms_p50 two_ms_p95 bare_ms_p50 speedup"),
    medians=(
        ("Bare: a fresh `python` for each submission, a sample", "diverse.bare_ms_p50"),
        ("Ours, one at a time", "diverse.one_ms_p50"),
        ("Ours, one at a time, the slowest twentieth begins at", "diverse.one_ms_p95"),
        ("Ours, two at a time", "diverse.two_ms_p50"),
        ("Ours, two at a time, the slowest twentieth begins at", "diverse.two_ms_p95"),
    ),
    targets=(
        Figure("Median ours, one and two at a time", _key("diverse.ours_ms_p50"), "at most", 1500, " ms"),
        Figure("p95 ours, one and two at a time", _key("diverse.ours_ms_p95"), "at most", 4000, " ms"),
        Figure("Median bare / median ours, the same sample", _key("diverse.speedup")),
    ),
)


EXPLORE = Sheet(
    part="explore",
    title="The Explorer",
    medians_of="one exploration of a step with 12 leaves, machine idle",
    keys=_keys("explore", "ours_ms_p50 ours_ms_p95 again_ms_p50 known_ms_p50 first_ms_p50"),
    medians=(
        ("POST to result, on both meshes", "explore.ours_ms_p50"),
        ("The slowest twentieth begins at", "explore.ours_ms_p95"),
        ("The same source again", "explore.again_ms_p50"),
        ("Another source with the same programs", "explore.known_ms_p50"),
    ),
    targets=(
        # Results that were stored before it was measured do not have it.
        Figure("First answer, on one mesh", lambda found: found.get("explore.first_ms_p50"), "at most", 450, " ms"),
        Figure("Median, on both meshes", _key("explore.ours_ms_p50"), "at most", 1000, " ms"),
        Figure("The same source again", _key("explore.again_ms_p50"), "at most", 15, " ms"),
    ),
)


LENS = Sheet(
    part="lens",
    title="Programs for GPUs",
    medians_of="one exploration, machine idle",
    keys=_keys("lens", "gpu_ms_p50 again_ms_p50 large_ms_p50 tpu_ms_p50 tpu_large_ms_p50"),
    medians=(),
    targets=(
        Figure("12 leaves, with programs for 8 and for 4 H100s", _key("lens.gpu_ms_p50"), "at most", 2500, " ms"),
        Figure("The same source again", _key("lens.again_ms_p50"), "at most", 20, " ms"),
        Figure("6.6B parameters, with a program for 256 H100s", _key("lens.large_ms_p50"), "at most", 15_000, " ms"),
        Figure("12 leaves, with programs for 8 and for 4 v5e chips", _key("lens.tpu_ms_p50"), unit=" ms"),
        Figure("6.6B parameters, with a program for 256 v5e chips", _key("lens.tpu_large_ms_p50"), unit=" ms"),
    ),
)


WEB = Sheet(
    part="web",
    title="The problem page",
    medians_of="one load with an empty cache, CPU four times slower",
    keys=_keys("web", "page_kb first_content_ms_p50 usable_ms_p50 layout_shift plain_page_kb"),
    medians=(
        ("First content", "web.first_content_ms_p50"),
        ("Editor usable", "web.usable_ms_p50"),
    ),
    targets=(
        Figure("On the wire, with everything that the page loads", _key("web.page_kb"), "at most", 170, " kB"),
        Figure("The same, nothing compressed", _key("web.plain_page_kb"), unit=" kB"),
        Figure("First content", _key("web.first_content_ms_p50"), "at most", 1000, " ms"),
        Figure("Editor usable", _key("web.usable_ms_p50"), "at most", 2500, " ms"),
        Figure("Layout shift", _key("web.layout_shift"), "at most", 0.02),
    ),
)


def sheets_in(results: Results) -> list[Sheet]:
    """Return the sheets of the parts that were measured."""
    return [sheet for sheet in (CALL, PROGRAM, SERVICE, DIVERSE, EXPLORE, LENS, WEB) if sheet.keys[0] in results]


def _round(value: float) -> str:
    """Format with three significant digits, or as a whole number if it is 100 or more: one run is not more precise."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
