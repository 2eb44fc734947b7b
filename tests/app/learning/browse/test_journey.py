"""Where lessons and problems stop on the lines of the journey."""

from dataclasses import replace

from app.core.settings import CHECKOUT
from app.learning.browse.catalogue_listing import list_problems
from app.learning.browse.journey import lines_of
from app.learning.lessons.lesson_files import Lessons
from app.problems.tracks import Section
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
