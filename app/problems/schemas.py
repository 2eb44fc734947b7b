"""REST responses about problems, which contain only public parts."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from app.core.view import View
from app.problems.tracks import Section
from app.problems.written_lines import lines_to_write
from grader.checks.grading_table import GradedCheck, grading_of
from grader.package.package import Limits, Package, Tolerance


class CheckJSON(View):
    """One graded property and its points."""

    id: str
    points: int
    title: str | None


class ProblemSummary(View):
    """`difficulty` is of the idea. `lines` of code are what the reference adds to the starter; null for answers."""

    slug: str
    title: str
    summary: str
    track: str
    difficulty: str
    lines: int | None
    tags: list[str]
    version: str

    @classmethod
    def of(cls, package: Package) -> "ProblemSummary":
        return cls.read_from(package.manifest, lines=lines_to_write(package), version=package.version)


class TrackJSON(View):
    """A part of the curriculum. `problems` are slugs, in the recommended order."""

    id: str
    title: str
    teaches: str
    problems: list[str]

    @classmethod
    def of(cls, section: Section) -> "TrackJSON":
        slugs = [package.slug for package in section.packages]
        return cls.read_from(section, problems=slugs)


class ProblemList(View):
    """All problems, and the tracks that they are in, both in the order of the curriculum."""

    problems: list[ProblemSummary]
    tracks: list[TrackJSON]

    @classmethod
    def of(cls, sections: Sequence[Section]) -> "ProblemList":
        return cls(
            problems=[ProblemSummary.of(package) for section in sections for package in section.packages],
            tracks=[TrackJSON.of(section) for section in sections],
        )


class VariantJSON(View):
    """The variant of a problem that you have, and its values by name."""

    name: str
    values: dict[str, int | float | str]


class ProblemDetail(ProblemSummary):
    """`statement` is Markdown with TeX, and `grading` says what each check requires. `hints` is the number of hints.

    `helpers` are the sources of the modules that a submission can import, by name. `variant` is null unless the problem
    has variants.
    """

    mode: str
    entry: str
    devices: int
    statement: str
    starter: str
    helpers: dict[str, str]
    variant: VariantJSON | None
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
        manifest = package.manifest
        return cls.read_from(
            manifest,
            lines=lines_to_write(package),
            version=package.version,
            statement=package.statement,
            starter=package.starter,
            helpers=package.helpers,
            variant=package.variant and VariantJSON.of(package.variant),
            hints=len(package.hints),
            checks=[CheckJSON.of(each) for each in manifest.checks],
            grading=grading_of(manifest),
        )


class HintsJSON(View):
    """The hints, as Markdown, each going further than the previous one. Reading them never affects a score."""

    problem: Annotated[str, Field(validation_alias="slug")]
    hints: list[str]
