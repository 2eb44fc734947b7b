"""REST responses about problems, which contain only public parts."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.problems.tracks import Section
from grader.checks.grading import GradedCheck, grading_of
from grader.package.package import Limits, Package, Tolerance

_SUMMARY: dict[str, Any] = {
    "slug": "fsdp_step",
    "title": "One step of fully sharded data parallel training",
    "summary": "Gather parameters, compute, scatter gradients, update a shard.",
    "track": "Data parallelism",
    "difficulty": "medium",
    "tags": ["fsdp", "optax"],
    "version": "3b9f4c0a7d2e",
}
_TRACK: dict[str, Any] = {
    "id": "data-parallel",
    "title": "Data parallelism",
    "teaches": "Every device has the whole model and a part of the batch.",
    "problems": ["fsdp_step"],
}
_PROBLEM: dict[str, Any] = _SUMMARY | {
    "mode": "call",
    "entry": "fsdp_step",
    "devices": 8,
    "statement": "## Why this matters\n…",
    "starter": "def fsdp_step(seed, x, y, num_shards, lr):\n    ...\n",
    "hints": 4,
    "checks": [{"id": "values", "points": 100, "title": None}],
    "grading": [
        {
            "id": "values",
            "title": "Values",
            "points": 100,
            "sentences": ["the result of every case matches the reference (rtol 1e-5, atol 1e-6)"],
            "bounds": ["structure, shape and dtype are the reference's"],
        }
    ],
    "tolerance": {"float32": {"rtol": 1e-5, "atol": 1e-6}},
    "limits": {"time_s": 20.0, "wall_s": 60.0, "memory_mb": 2048, "output_mb": 64},
    "prerequisites": [],
    "authors": ["The Meshgrade authors"],
    "licence": "Apache-2.0",
}


class CheckJSON(BaseModel):
    """One graded property and its points."""

    model_config = ConfigDict(extra="forbid")

    id: str
    points: int
    title: str | None


class ProblemSummary(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SUMMARY]})

    slug: str
    title: str
    summary: str
    track: str
    difficulty: str
    tags: list[str]
    version: str

    @classmethod
    def of(cls, package: Package) -> "ProblemSummary":
        return cls(**_summary(package))


class TrackJSON(BaseModel):
    """A part of the curriculum. `problems` are slugs, in the order in which they are best solved."""

    model_config = ConfigDict(extra="forbid")

    id: str
    title: str
    teaches: str
    problems: list[str]

    @classmethod
    def of(cls, section: Section) -> "TrackJSON":
        slugs = [package.slug for package in section.packages]
        return cls(id=section.id, title=section.title, teaches=section.teaches, problems=slugs)


class ProblemList(BaseModel):
    """All problems, and the tracks that they are in, both in the order of the curriculum."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"problems": [_SUMMARY], "tracks": [_TRACK]}]}
    )

    problems: list[ProblemSummary]
    tracks: list[TrackJSON]

    @classmethod
    def of(cls, sections: Sequence[Section]) -> "ProblemList":
        return cls(
            problems=[ProblemSummary.of(package) for section in sections for package in section.packages],
            tracks=[TrackJSON.of(section) for section in sections],
        )


class ProblemDetail(ProblemSummary):
    """`statement` is Markdown with TeX, and `grading` says what each check asks for. `hints` is the number of hints."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_PROBLEM]})

    mode: str
    entry: str
    devices: int
    statement: str
    starter: str
    hints: int
    checks: list[CheckJSON]
    grading: tuple[GradedCheck, ...]
    tolerance: dict[str, Tolerance]
    limits: Limits
    prerequisites: list[str]
    authors: list[str]
    licence: str

    @classmethod
    def of(cls, package: Package) -> "ProblemDetail":
        # Field by field: a new part of a package may be secret, and must not be published automatically.
        manifest = package.manifest
        return cls(
            **_summary(package),
            mode=manifest.mode,
            entry=manifest.entry,
            devices=manifest.devices,
            statement=package.statement,
            starter=package.starter,
            hints=len(package.hints),
            checks=[CheckJSON(id=each.id, points=each.points, title=each.title) for each in manifest.checks],
            grading=grading_of(manifest),
            tolerance=manifest.tolerance,
            limits=manifest.limits,
            prerequisites=manifest.prerequisites,
            authors=manifest.authors,
            licence=manifest.licence,
        )


class HintsJSON(BaseModel):
    """The hints, as Markdown, each going further than the one before. Reading them never affects a score."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"problem": "fsdp_step", "hints": ["Which leaf is it?", "It is the kernel."]}]},
    )

    problem: str
    hints: list[str]

    @classmethod
    def of(cls, package: Package) -> "HintsJSON":
        return cls(problem=package.slug, hints=list(package.hints))


def _summary(package: Package) -> dict[str, Any]:
    manifest = package.manifest
    return {
        "slug": manifest.slug,
        "title": manifest.title,
        "summary": manifest.summary,
        "track": manifest.track,
        "difficulty": manifest.difficulty,
        "tags": manifest.tags,
        "version": package.version,
    }
