"""The catalogue: progress, the problem to continue, the next problem, and filters."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.grading.attempts.progress import Progress
from app.learning.browse.catalogue_listing import Filter, list_problems
from app.learning.workbench.solving_times import SolvingTime
from app.problems.tracks import Section

START = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def sections(package):
    """a1 > a2 (needs a1) in one track, b1 (needs a2 and one that is not served) in the other."""

    def named(slug, title, needs=(), **manifest):
        update = {"slug": slug, "title": title, "prerequisites": list(needs), **manifest}
        return replace(package, manifest=package.manifest.model_copy(update=update))

    first = (named("a1", "Rebuild a weight", tags=["fsdp"]), named("a2", "Average it", ["a1"], difficulty="hard"))
    second = (named("b1", "Pipeline", ["a2", "elsewhere"], tags=["scan", "fsdp"]),)
    return (Section("a", "A", "Teaches a.", first), Section("b", "B", "", second))


def reached(**accepted):
    """Whether each problem was accepted, by slug; each was tried a minute after the previous one."""
    return {
        slug: Progress(START + timedelta(minutes=number), 100 if is_accepted else 40, is_accepted)
        for number, (slug, is_accepted) in enumerate(accepted.items())
    }


def picks(listing):
    return tuple(row.slug if row else None for row in (listing.going_on, listing.up_next))


def test_a_guest_starts_with_the_first(sections):
    listing = list_problems(sections, {})
    assert picks(listing) == (None, "a1")
    assert {row.state for row in listing.rows} == {"new"}
    assert [(group.title, group.solved) for group in listing.groups] == [("A", 0), ("B", 0)]


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (reached(a1=True), (None, "a2")),
        (reached(a1=False), ("a1", None)),
        (reached(a1=True, a2=False), ("a2", None)),
        # The problem that was tried last, wherever it is; the next problem follows the order of the tracks.
        (reached(b1=False, a2=False), ("a2", "a1")),
        (reached(a2=False, b1=False), ("b1", "a1")),
        (reached(a1=True, a2=True), (None, "b1")),
        (reached(a1=True, a2=True, b1=True), (None, None)),
        # Solved without its prerequisites, which are still to do.
        (reached(b1=True), (None, "a1")),
    ],
)
def test_what_to_go_on_with_and_what_is_next(sections, progress, expected):
    assert picks(list_problems(sections, progress)) == expected


def test_what_was_given_up_is_not_offered_and_does_not_bar_what_builds_on_it(sections):
    progress = reached(a1=False)
    assert picks(list_problems(sections, {"a1": replace(progress["a1"], gave_up=True)})) == (None, "a2")


def test_states_scores_and_prerequisites(sections):
    progress = reached(a1=True, a2=False) | {"b1": Progress(START, None, False)}
    a1, a2, b1 = list_problems(sections, progress).rows
    assert [(row.state, row.best) for row in (a1, a2, b1)] == [("solved", 100), ("tried", 40), ("tried", None)]
    assert list_problems(sections, progress).points == 140
    assert [(each.slug, each.title, each.state) for each in a2.needs] == [("a1", "Rebuild a weight", "solved")]
    assert [each.slug for each in b1.needs] == ["a2"]
    assert (a2.is_open, b1.is_open) == (True, False)


@pytest.mark.parametrize("progress", [{}, reached(elsewhere=True), reached(a1=True), reached(a2=False, b1=True)])
def test_readers_share_the_rows_that_their_progress_does_not_change(sections, progress):
    first, again = list_problems(sections, progress), list_problems(sections, progress)
    nobody = list_problems(sections, {})
    assert first == again
    shared = {row.slug for row, of_nobody in zip(first.rows, nobody.rows, strict=True) if row is of_nobody}
    # A row shows its own state, and those of its prerequisites.
    shows = {"a1": {"a1"}, "a2": {"a1", "a2"}, "b1": {"a2", "b1"}}
    assert shared == {slug for slug, shown in shows.items() if shown.isdisjoint(progress)}
    # The same values in other objects, as after a restart.
    assert list_problems(tuple(replace(each) for each in sections), progress) == first
    assert len({hash(row) for row in (*first.rows, *again.rows)}) == len(first.rows)


def test_other_times_are_other_minutes(sections):
    times = {"a1": SolvingTime(90, 20)}
    assert [row.minutes for row in list_problems(sections, {}, times).rows] == [90, None, None]
    assert [row.minutes for row in list_problems(sections, {}).rows] == [None, None, None]
    assert [row.minutes for row in list_problems(sections, reached(a1=True), times).rows] == [90, None, None]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["a1", "a2", "b1"]),
        ({"q": "  WEIGHT rebuild "}, ["a1"]),
        ({"q": "fsdp"}, ["a1", "b1"]),
        ({"q": "b1"}, ["b1"]),
        ({"track": "a"}, ["a1", "a2"]),
        ({"track": "none"}, []),
        ({"difficulty": "hard"}, ["a2"]),
        ({"difficulty": "very hard"}, ["a1", "a2", "b1"]),
        ({"state": "solved"}, ["a1"]),
        ({"state": "new"}, ["a2", "b1"]),
        ({"tag": "fsdp"}, ["a1", "b1"]),
        ({"tag": "fsd"}, []),
        ({"tag": "fsdp", "track": "b", "q": "pipe"}, ["b1"]),
    ],
)
def test_a_filter_leaves_what_matches_all_of_it(sections, query, expected):
    wanted = Filter.read(query)
    assert [row.slug for row in list_problems(sections, reached(a1=True)).rows if wanted.matches(row)] == expected


def test_tags_are_listed_once_and_frequent_ones_first(sections):
    assert list_problems(sections, {}).tags == ("fsdp", "scan")


def test_a_search_is_cut_to_a_bounded_length():
    assert len(Filter.read({"q": "x" * 5000}).q) == 100
    assert Filter.read({"q": "   "}).is_empty
