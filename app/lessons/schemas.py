"""REST responses of lessons."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from app.lessons.lesson import Claim, Lesson

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


class LessonDetail(LessonSummary):
    """`markdown` has its numbers filled in. They were measured with `jax_version` on so many host `devices`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_LESSON]})

    markdown: str
    jax_version: str
    devices: int
    claims: list[ClaimJSON]

    @classmethod
    def of(cls, lesson: Lesson) -> "LessonDetail":
        measured = lesson.claims
        return cls(
            **_summary(lesson),
            markdown=lesson.markdown,
            jax_version=measured.jax,
            devices=measured.devices,
            claims=[ClaimJSON.of(name, claim) for name, claim in measured.by_name.items()],
        )


def _summary(lesson: Lesson) -> dict[str, Any]:
    return {
        "slug": lesson.slug,
        "title": lesson.title,
        "summary": lesson.summary,
        "page": f"/lessons/{lesson.slug}",
        "problems": list(lesson.problems),
    }
