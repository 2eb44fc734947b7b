"""REST responses of lessons."""

from typing import Annotated, Any

from pydantic import Field

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.source_rules import Source
from app.learning.lessons.lesson import Claim, Lesson
from app.learning.lessons.runs import LessonRun, prints_the_same


class LessonSummary(View):
    """`problems` are slugs of problems to go on with."""

    slug: str
    title: str
    summary: str
    page: str
    problems: list[str]

    @classmethod
    def of(cls, lesson: Lesson) -> "LessonSummary":
        return cls(**_summary(lesson))


class LessonList(View):
    """All lessons, in reading order."""

    lessons: list[LessonSummary]


class ClaimJSON(View):
    """A measured number, or a name that JAX gave. `text` is the number with its unit, as the lesson has it."""

    name: str
    value: int | float | str
    unit: str
    text: str
    what: str

    @classmethod
    def of_name(cls, name: str, claim: Claim) -> "ClaimJSON":
        return cls.read_from(claim, name=name)


class LessonProgramJSON(View):
    """A program of the lesson, and what it prints. Without `runs_here`, it needs what the sandbox denies."""

    number: int
    code: str
    output: str
    runs_here: bool


class LessonDetail(LessonSummary):
    """`markdown` has its numbers filled in. They were measured with `jax_version` on this many host `devices`."""

    markdown: str
    jax_version: str
    devices: int
    claims: list[ClaimJSON]
    programs: list[LessonProgramJSON]

    @classmethod
    def of(cls, lesson: Lesson) -> "LessonDetail":
        measured = lesson.claims
        return cls(
            **_summary(lesson),
            markdown=lesson.markdown,
            jax_version=measured.jax,
            devices=measured.devices,
            claims=[ClaimJSON.of_name(name, claim) for name, claim in measured.by_name.items()],
            programs=[LessonProgramJSON.read_from(each, number=number) for number, each in enumerate(lesson.blocks, 1)],
        )


class NewLessonRunJSON(RequestBody):
    """The number of a program of the lesson, and the source to run in its place."""

    program: Annotated[int, Field(ge=1)]
    source: Source


class LessonRunJSON(LessonRun):
    """One run of a program. `result` is null until it has finished. `prints_the_same` says whether it prints what the
    lesson shows; it is null if it did not run to its end, or if the lesson shows no output. `compiled` has the
    collectives of the function that the lesson explores, of the source that was run; null if it explores none.
    """

    prints_the_same: bool | None

    @classmethod
    def in_lesson(cls, run: LessonRun, lesson: Lesson | None) -> "LessonRunJSON":
        """Without the lesson, if it is no longer served."""
        is_there = lesson is not None and run.program <= len(lesson.blocks)
        block = lesson.blocks[run.program - 1] if lesson is not None and is_there else None
        same = prints_the_same(run.result, block) if run.result and block else None
        return cls.read_from(run, prints_the_same=same)


def _summary(lesson: Lesson) -> dict[str, Any]:
    return {
        "slug": lesson.slug,
        "title": lesson.title,
        "summary": lesson.summary,
        "page": f"/lessons/{lesson.slug}",
        "problems": list(lesson.problems),
    }
