"""Where lessons and problems stop on the lines of the journey, and how long a line takes."""

from dataclasses import replace
from statistics import mean

import pytest

from app.core.settings import CHECKOUT
from app.learning.browse.catalogue_listing import list_problems
from app.learning.browse.journey import lines_of, time_text
from app.learning.lessons.lesson_files import Lessons
from app.learning.workbench.solving_times import MINUTES_BY_DIFFICULTY, SolvingTime
from app.problems.tracks import Section, read_tracks
from grader.core.toml import read_toml
from tests.app.learning.browse.test_catalogue_listing import reached

LESSON = Lessons.load(CHECKOUT / "lessons").all()[0]


def lesson(slug, *problems):
    return replace(LESSON, slug=slug, title=slug.title(), problems=problems)


def sections(package):
    def named(slug, *needs):
        update = {"slug": slug, "title": slug.upper(), "prerequisites": list(needs)}
        return replace(package, manifest=package.manifest.model_copy(update=update))

    return (
        Section("a", "A", "", (named("a1"), named("a2", "a1"))),
        Section("b", "B", "", (named("b1", "a2"), named("b2"))),
    )


def stops(lines):
    return [[(stop.title, stop.state) for stop in line.stops] for line in lines]


def test_a_lesson_stops_once_before_the_first_problem_that_it_lists(package):
    lessons = [lesson("early", "gone", "b2", "a1"), lesson("late", "a2"), lesson("nowhere", "gone")]
    lines = lines_of(list_problems(sections(package), {}), lessons, {"late"})
    assert stops(lines) == [
        [("A1", "open"), ("Late", "read"), ("A2", "later")],
        [("B1", "later"), ("Early", "lesson"), ("B2", "open")],
    ]
    assert lines[1].stops[1].problems == ("b2", "a1")
    assert [stop.href for stop in lines[0].stops] == ["/problems/a1", "/lessons/late", "/problems/a2"]


def test_a_stop_says_how_far_the_reader_is(package):
    lines = lines_of(list_problems(sections(package), reached(a1=True, a2=False)), [], ())
    assert stops(lines) == [[("A1", "solved"), ("A2", "tried")], [("B1", "later"), ("B2", "open")]]


def test_a_line_takes_its_place_and_the_time_of_its_stops(package):
    first, second = sections(package)
    timed = replace(first, minutes={"a1": 40})
    lines = lines_of(
        list_problems((timed, second), {}, {"b1": SolvingTime(90, 20)}),
        [lesson("early", "a2"), lesson("late", "b2")],
        (),
    )
    by_difficulty = MINUTES_BY_DIFFICULTY[package.manifest.difficulty]
    assert [[stop.minutes for stop in line.stops] for line in lines] == [
        [40, LESSON.minutes, by_difficulty],
        [90, LESSON.minutes, by_difficulty],
    ]
    assert [(line.number, line.takes) for line in lines] == [
        (number, time_text(sum(stop.minutes for stop in line.stops))) for number, line in enumerate(lines, 1)
    ]
    assert [stop.number for line in lines for stop in line.stops] == [0, 1, 0, 0, 2, 0]


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (1, "5 min"),
        (32, "30 min"),
        (57, "55 min"),
        (58, "1 hour"),
        (70, "1 hour"),
        (80, "1.5 hours"),
        (687, "11.5 hours"),
    ],
)
def test_a_time_is_no_more_exact_than_an_estimate(minutes, text):
    assert time_text(minutes) == text


def test_a_problem_without_an_estimate_takes_as_long_as_ours_of_its_difficulty():
    problems = CHECKOUT / "problems"
    estimates = {}
    for track in read_tracks(problems):
        for slug, minutes in zip(track.problems, track.minutes, strict=True):
            manifest = read_toml((problems / slug / "problem.toml").read_text(encoding="utf-8"))
            estimates.setdefault(manifest["difficulty"], []).append(minutes)
    assert {each: 5 * round(mean(minutes) / 5) for each, minutes in estimates.items()} == MINUTES_BY_DIFFICULTY
