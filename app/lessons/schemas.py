"""REST responses of lessons."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.source import Source
from app.lessons.lesson import Claim, Lesson
from app.lessons.runs import LessonRun, LessonRunStatus, prints_the_same
from grader.script import Printed

_SUMMARY: dict[str, Any] = {
    "slug": "meshes-and-specs",
    "title": "Meshes and specs",
    "summary": "Which part of an array is on which device.",
    "page": "/lessons/meshes-and-specs",
    "problems": ["all_gather_tiled"],
}
_CLAIM: dict[str, Any] = {
    "name": "shard_bytes",
    "value": 64,
    "unit": "bytes",
    "text": "64 bytes",
    "what": "One shard of the array, split over both axes.",
}
_LESSON: dict[str, Any] = _SUMMARY | {
    "markdown": "## A mesh names the devices\n…",
    "jax_version": "0.10.2",
    "devices": 8,
    "claims": [_CLAIM],
    "programs": [{"number": 1, "code": "print(2 * 4)\n", "output": "8\n"}],
}
_RUN: dict[str, Any] = {
    "id": "7d0b4a869c6e0a2c3f0f6a015d0f7a64",
    "lesson": "meshes-and-specs",
    "program": 1,
    "status": "finished",
    "source": "print(2 * 4)\n",
    "result": {"schema_version": 1, "stdout": "8\n", "stderr": "", "truncated": False, "fault": None},
    "prints_the_same": True,
    "created_at": "2026-01-05T09:30:00.000000Z",
    "finished_at": "2026-01-05T09:30:01.000000Z",
}


class LessonSummary(BaseModel):
    """`problems` are slugs of problems to go on with."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SUMMARY]})

    slug: str
    title: str
    summary: str
    page: str
    problems: list[str]

    @classmethod
    def of(cls, lesson: Lesson) -> "LessonSummary":
        return cls(**_summary(lesson))


class LessonList(BaseModel):
    """All lessons, in the order in which they are best read."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"lessons": [_SUMMARY]}]})

    lessons: list[LessonSummary]


class ClaimJSON(BaseModel):
    """A measured number, or a name that JAX gave. `text` is the number with its unit, as the lesson has it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CLAIM]})

    name: str
    value: int | float | str
    unit: str
    text: str
    what: str

    @classmethod
    def of(cls, name: str, claim: Claim) -> "ClaimJSON":
        return cls(name=name, value=claim.value, unit=claim.unit, text=claim.text, what=claim.what)


class LessonProgramJSON(BaseModel):
    """A program of the lesson, and what it prints."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": _LESSON["programs"]})

    number: int
    code: str
    output: str


class LessonDetail(LessonSummary):
    """`markdown` has its numbers filled in. They were measured with `jax_version` on so many host `devices`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_LESSON]})

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
            claims=[ClaimJSON.of(name, claim) for name, claim in measured.by_name.items()],
            programs=[
                LessonProgramJSON(number=number, code=each.code, output=each.output)
                for number, each in enumerate(lesson.blocks, 1)
            ],
        )


class NewLessonRunJSON(BaseModel):
    """The number of a program of the lesson, and the source to run in its place."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"program": 1, "source": "print(2 * 4)\n"}]}
    )

    program: Annotated[int, Field(ge=1)]
    source: Source


class LessonRunJSON(BaseModel):
    """One run of a program. `result` is null until it has finished. `prints_the_same` says whether it prints what the
    lesson shows; it is null if it did not run to its end, or if the lesson shows no output.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_RUN]})

    id: str
    lesson: str
    program: int
    status: LessonRunStatus
    source: str
    result: Printed | None
    prints_the_same: bool | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, run: LessonRun, lesson: Lesson | None) -> "LessonRunJSON":
        """Without the lesson, if it is no longer served."""
        is_there = lesson is not None and run.program <= len(lesson.blocks)
        block = lesson.blocks[run.program - 1] if lesson is not None and is_there else None
        return cls(
            id=run.id,
            lesson=run.lesson,
            program=run.program,
            status=run.status,
            source=run.source,
            result=run.result,
            prints_the_same=prints_the_same(run.result, block) if run.result and block else None,
            created_at=run.created_at,
            finished_at=run.finished_at,
        )


def _summary(lesson: Lesson) -> dict[str, Any]:
    return {
        "slug": lesson.slug,
        "title": lesson.title,
        "summary": lesson.summary,
        "page": f"/lessons/{lesson.slug}",
        "problems": list(lesson.problems),
    }
