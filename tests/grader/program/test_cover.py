"""Whether what hides a collective is long enough, by the bandwidth of the links."""

from grader.core.chips import Torus
from grader.program.cover import covers_of
from grader.program.schedule import ScheduledCollective, ScheduledComputation, Step

# A byte takes a cycle.
TORUS = Torus(sent_per_s=10**9, cycles_per_s=10**9)


def computation(cycles: list[int | None], *collectives: ScheduledCollective) -> ScheduledComputation:
    steps = tuple(Step(f"s{number}", each, 0, None) for number, each in enumerate(cycles))
    return ScheduledComputation("main", "", 1, steps, collectives)


def gather(sent: int, start: int, done: int | None, axes: tuple[str, ...] | None = ("x",)) -> ScheduledCollective:
    return ScheduledCollective("all-gather", ("f32",), axes, 8, sent, sent, "ICI", None, start, done)


def verdicts(found: ScheduledComputation) -> list[tuple[int, bool | None]]:
    return [(each.queued, each.is_enough) for each in covers_of(found, TORUS)]


def test_what_hides_it_is_compared_with_what_its_links_need():
    assert verdicts(computation([None, 100, None], gather(100, 0, 2))) == [(0, True)]
    assert verdicts(computation([None, 100, None], gather(101, 0, 2))) == [(0, False)]


def test_links_of_an_axis_serve_one_after_the_other():
    steps = [None, None, 100, None, None]
    assert verdicts(computation(steps, gather(80, 0, 3), gather(30, 1, 4))) == [(0, True), (80, False)]
    assert verdicts(computation(steps, gather(80, 0, 3), gather(30, 1, 4, ("y",)))) == [(0, True), (0, True)]
    # Its groups run along no axis, so it may need any link.
    assert verdicts(computation(steps, gather(80, 0, 3), gather(30, 1, 4, None))) == [(0, True), (80, False)]


def test_a_link_is_free_again_when_it_has_sent():
    steps = [None, 60, None, 100, None]
    assert verdicts(computation(steps, gather(80, 0, 4), gather(70, 2, 4))) == [(0, True), (20, True)]


def test_a_kernel_without_an_estimate_may_be_long_enough():
    assert verdicts(computation([None, 100, None, None], gather(200, 0, 3))) == [(0, None)]
    assert verdicts(computation([None, 100, None, None], gather(90, 0, 3))) == [(0, True)]


def test_without_a_documented_bandwidth_nothing_is_estimated():
    [cover] = covers_of(computation([None, 100, None], gather(100, 0, 2)), None)
    assert (cover.needed, cover.is_enough, cover.cycles) == (None, None, 100)


def test_nothing_hides_what_everything_waits_for():
    [cover] = covers_of(computation([100, None, 100], gather(100, 1, 1)), TORUS)
    assert (cover.kernels, cover.cycles, cover.needed, cover.is_enough) == (0, 0, 100, None)
