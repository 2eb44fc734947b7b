"""What a lesson of this repository needs, read from files alone; see problem_rules.py.

Each rule yields the faults of one lesson as `file:line: message`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from app.learning.lessons.errors import LessonInvalid
from app.learning.lessons.lesson import NAMED_PROBLEM, Lesson, Misreading, Program, Question, Text
from app.learning.lessons.lesson_files import read_lesson, read_order
from app.problems.tracks import read_tracks
from tests.lessons.shipped_lessons import LESSONS, SHIPPED

Rule = Callable[[str], Iterable[str]]
CHECKOUT = LESSONS.parent
PROBLEMS = CHECKOUT / "problems"
# What fits beside the text of a page without scrolling.
LONGEST_LINE = 74
# Mistakes, numbered within each of the four texts that they were found in.
MISTAKES = {f"{text}.{number}" for text, found in enumerate((28, 24, 25, 21)) for number in range(1, found + 1)}
_DRAWN_ANSWER = re.compile(r"(?<=\n\n)!\[.*\n(?=:::$)", re.MULTILINE)
_QUESTIONS, _PROBLEMS, _WORDS = 3, 3, (600, 900)


def all_slugs() -> list[str]:
    return sorted(path.parent.name for path in LESSONS.glob("*/lesson.md"))


def shipped_faults(rule: Rule) -> list[str]:
    """The faults of every lesson."""
    return [fault for slug in all_slugs() for fault in rule(slug)]


@cache
def _read(slug: str) -> Lesson | None:
    """Read a lesson. Returns None if it cannot be read."""
    if found := SHIPPED.find(slug):
        return found
    entries = [each for each in read_order(LESSONS) if each.slug == slug]
    try:
        return read_lesson(LESSONS / slug, entries[0]) if entries else None
    except LessonInvalid:
        return None


def cannot_be_shown(slug: str) -> Iterator[str]:
    entries = [each for each in read_order(LESSONS) if each.slug == slug]
    if not entries:
        yield f"lessons/order.toml:1: it does not list {slug}, with a title, a summary and problems"
        return
    try:
        read_lesson(LESSONS / slug, entries[0])
    except LessonInvalid as invalid:
        yield from (f"lessons/{slug}/lesson.md:1: {line}" for line in str(invalid).splitlines())
    for fault in SHIPPED.faults:
        if " is corrected more than once: " in str(fault) and slug in str(fault):
            yield f"lessons/{slug}/lesson.md:1: {fault}"


def names_an_unknown_problem(slug: str) -> Iterator[str]:
    if (lesson := _read(slug)) is None:
        return
    for each in dict.fromkeys([*lesson.problems, *NAMED_PROBLEM.findall(lesson.markdown)]):
        if not (PROBLEMS / each / "problem.toml").is_file():
            yield f"lessons/{slug}/lesson.md:1: there is no problem {each}"


def has_not_the_form_that_is_promised(slug: str) -> Iterator[str]:
    """A lesson needs one program per section, three questions, three or more problems, and a length within bounds."""
    if (lesson := _read(slug)) is None:
        return
    file = f"lessons/{slug}/lesson.md:1"
    sections = [0]
    for part in lesson.parts:
        if isinstance(part, Text):
            sections += [0] * len(re.findall("^## (?!Check yourself)", part.markdown, re.MULTILINE))
        sections[-1] += isinstance(part, Program)
    if sections[1:] != [1] * len(lesson.blocks):
        yield f"{file}: each section needs one program; these have {sections[1:]}"
    long = [line for block in lesson.blocks for line in block.code.splitlines() if len(line) > LONGEST_LINE]
    yield from (f"{file}: a line of a program has over {LONGEST_LINE} characters: {line}" for line in long)
    questions = [part for part in lesson.parts if isinstance(part, Question)]
    if len(questions) != _QUESTIONS:
        yield f"{file}: it has {len(questions)} questions instead of {_QUESTIONS}"
    if len(lesson.problems) < _PROBLEMS:
        yield f"lessons/order.toml:1: {slug} prepares {len(lesson.problems)} problems instead of {_PROBLEMS} or more"
    if not _WORDS[0] <= (number := words(slug)) <= _WORDS[1]:
        yield f"{file}: it has {number} words instead of {_WORDS[0]} to {_WORDS[1]}"


def has_a_wrong_answer_that_says_nothing(slug: str) -> Iterator[str]:
    """Each wrong choice says what is wrong with it, and each number and spec has a wrong one that does."""
    if (lesson := _read(slug)) is None:
        return
    file = f"lessons/{slug}/lesson.md:1"
    for part in (part for part in lesson.parts if isinstance(part, Question)):
        explained = {wrong for wrong, _ in part.slips}
        silent = [each for each in part.spec.choices if each != part.right and each not in explained]
        yield from (f"{file}: the wrong choice {each!r} does not say what is wrong with it" for each in silent)
        if not part.slips:
            yield f"{file}: no wrong answer of this question says what it shows: {part.text}"


def answers_without_a_drawing(slug: str) -> Iterator[str]:
    if (lesson := _read(slug)) is None:
        return
    if not any(part.figure for part in lesson.parts if isinstance(part, Question)):
        yield f"lessons/{slug}/lesson.md:1: no answer to its questions has a figure"


def goes_on_after_a_mistake(slug: str) -> Iterator[str]:
    """Boxes of mistakes are at the end of their section, where they interrupt nothing."""
    if (lesson := _read(slug)) is None:
        return
    is_corrected = False
    for part in lesson.parts:
        is_new = isinstance(part, Text) and part.markdown.startswith("## ")
        if is_corrected and not is_new and not isinstance(part, Misreading):
            shown = part.markdown[:40] if isinstance(part, Text) else type(part).__name__.lower()
            yield f"lessons/{slug}/lesson.md:1: a section goes on after a mistake is corrected: {shown!r}"
        is_corrected = isinstance(part, Misreading)


def corrects_a_mistake_that_is_not_listed(slug: str) -> Iterator[str]:
    if (lesson := _read(slug)) is None:
        return
    corrected = {each for part in lesson.parts if isinstance(part, Misreading) for each in part.mistakes}
    for each in sorted(corrected - MISTAKES):
        yield f"lessons/{slug}/lesson.md:1: there is no mistake {each} on the list"


def is_the_place_of_no_topic(slug: str) -> Iterator[str]:
    row = f"[{slug}](../lessons/{slug}/lesson.md)"
    if row not in (CHECKOUT / "docs" / "curriculum.md").read_text(encoding="utf-8"):
        yield f"docs/curriculum.md:1: no topic has {row}"


def stops_before_a_lesson_that_is_read_first(slug: str) -> Iterator[str]:
    """A lesson stops before the first problem of its list. Along the journey, lessons keep their order."""
    problems = [each for track in read_tracks(PROBLEMS) for each in track.problems]
    lessons = {each.slug: each.problems[0] for each in read_order(LESSONS) if each.problems[0] in problems}
    if slug not in lessons:
        return
    read_first = list(lessons)[: list(lessons).index(slug)]
    for each in read_first:
        if problems.index(lessons[each]) > problems.index(lessons[slug]):
            yield f"lessons/order.toml:1: {slug} stops at {lessons[slug]}, before {each}, which is listed above it"


def words(slug: str) -> int:
    """Count the words that everyone reads: not programs, output, marks of boxes, claims, lists, or below an answer."""
    lines, inside = [], False
    text = _DRAWN_ANSWER.sub("", (LESSONS / slug / "lesson.md").read_text(encoding="utf-8"))
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith(("  > ", "- {{", "- `P(")):
            lines.append(line)
    return sum(any(each.isalnum() for each in word) for word in " ".join(lines).split())


RULES: tuple[Rule, ...] = (
    cannot_be_shown,
    names_an_unknown_problem,
    has_not_the_form_that_is_promised,
    has_a_wrong_answer_that_says_nothing,
    answers_without_a_drawing,
    goes_on_after_a_mistake,
    corrects_a_mistake_that_is_not_listed,
    is_the_place_of_no_topic,
    stops_before_a_lesson_that_is_read_first,
)
