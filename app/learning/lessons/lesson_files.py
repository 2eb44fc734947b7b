"""Reads lessons/: order.toml, and a folder for each lesson with lesson.md, claims.json, figures and explore.toml."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.core.ids import new_id
from app.learning.lessons.errors import LessonInvalid, LessonNotFound
from app.learning.lessons.explorable_programs import FILE, read_explorable
from app.learning.lessons.lesson import NAMED_PROBLEM, Claims, Lesson, Misreading
from app.learning.lessons.lesson_parts import divide
from app.learning.lessons.measured_numbers import blocks, fill, unmeasured
from grader.core.toml import TomlInvalid, read_toml
from grader.package.package import Line, Slug
from grader.review.names import suggest

ORDER = "order.toml"
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class Entry(BaseModel):
    """One `[[lessons]]` table. `problems` are those that the lesson prepares."""

    model_config = _STRICT

    slug: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    title: Line
    summary: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    problems: list[Slug] = Field(min_length=1)


class _OrderFile(BaseModel):
    model_config = _STRICT

    lessons: list[Entry] = Field(min_length=1)


class Lessons:
    """The lessons of a folder in their order. Those with faults are left out; `faults` says why."""

    def __init__(self, lessons: Iterable[Lesson] = (), faults: Iterable[LessonInvalid] = ()) -> None:
        self._by_slug = {lesson.slug: lesson for lesson in lessons}
        # Another one for other lessons, as `Catalogue.seen`.
        self.seen = new_id()
        self.faults = list(faults)

    @classmethod
    def load(cls, folder: Path) -> "Lessons":
        """Read every lesson that order.toml names. A folder without order.toml has none."""
        try:
            entries = read_order(folder)
        except LessonInvalid as fault:
            return cls(faults=[fault])
        lessons: list[Lesson] = []
        faults: list[LessonInvalid] = []
        for entry in entries:
            try:
                lessons.append(read_lesson(folder / entry.slug, entry))
            except LessonInvalid as fault:
                faults.append(fault)
        return cls(lessons, [*faults, *_placed_twice(lessons)])

    def all(self) -> list[Lesson]:
        return list(self._by_slug.values())

    def get(self, slug: str) -> Lesson:
        """Raises `LessonNotFound`, with a suggested slug if one is similar."""
        if lesson := self._by_slug.get(slug):
            return lesson
        raise LessonNotFound(f"There is no lesson {slug[:64]!r}{suggest(slug[:64], self._by_slug)}.")

    def find(self, slug: str) -> Lesson | None:
        return self._by_slug.get(slug)

    def leading_to(self, problems: Iterable[str]) -> tuple[Lesson, ...]:
        """The lessons that prepare any of these problems, in their order."""
        slugs = set(problems)
        return tuple(lesson for lesson in self.all() if not slugs.isdisjoint(lesson.problems))

    def unknown_problems(self, slugs: Iterable[str]) -> list[str]:
        """One message for each problem that a lesson links to and that is not served."""
        known = list(slugs)
        return [
            f"lesson '{lesson.slug}': there is no problem '{slug}'{suggest(slug, known)}"
            for lesson in self.all()
            for slug in dict.fromkeys([*lesson.problems, *NAMED_PROBLEM.findall(lesson.markdown)])
            if slug not in known
        ]


def read_order(folder: Path) -> list[Entry]:
    """Raises `LessonInvalid` with every fault of order.toml."""
    file = folder / ORDER
    try:
        entries = _OrderFile.model_validate(read_toml(file.read_text(encoding="utf-8"))).lessons
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, TomlInvalid) as error:
        raise LessonInvalid(str(file), [f"it cannot be read: {error}"]) from None
    except ValidationError as error:
        raise LessonInvalid(str(file), [_in_words(each) for each in error.errors()]) from None
    counted = Counter(entry.slug for entry in entries)
    if faults := [f"the lesson '{slug}' is listed {n} times" for slug, n in counted.items() if n > 1]:
        raise LessonInvalid(str(file), faults)
    return entries


def read_lesson(folder: Path, entry: Entry) -> Lesson:
    """Raises `LessonInvalid` with every fault found, not only the first."""
    try:
        text = (folder / "lesson.md").read_text(encoding="utf-8")
        claims = Claims.model_validate_json((folder / "claims.json").read_bytes())
        figures = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "figures").glob("*.svg"))}
        explored = (folder / FILE).read_text(encoding="utf-8") if (folder / FILE).exists() else ""
    except FileNotFoundError as missing:
        raise LessonInvalid(str(folder), [f"{Path(str(missing.filename)).name} is missing"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise LessonInvalid(str(folder), [f"it cannot be read: {error}"]) from None
    except ValidationError as error:
        raise LessonInvalid(str(folder), [f"claims.json: {_in_words(each)}" for each in error.errors()]) from None
    filled, faults = fill(text, claims.by_name)
    programs = tuple(blocks(filled))
    faults += unmeasured(text, filled, programs, claims.by_name)
    parts, wrong = divide(filled, figures)
    explorable, unfit = read_explorable(explored, programs)
    if faults or wrong or unfit:
        raise LessonInvalid(str(folder), faults + wrong + unfit)
    about = (entry.slug, entry.title, entry.summary, tuple(entry.problems))
    return Lesson(*about, filled, parts, programs, claims, explorable)


def _placed_twice(lessons: Iterable[Lesson]) -> list[LessonInvalid]:
    """A mistake is corrected in one place, where a reader meets it."""
    places: dict[str, list[str]] = {}
    for lesson in lessons:
        for part in lesson.parts:
            if isinstance(part, Misreading):
                for mistake in part.mistakes:
                    places.setdefault(mistake, []).append(lesson.slug)
    return [
        LessonInvalid(slugs[-1], [f"the mistake {mistake} is corrected more than once: in {', '.join(slugs)}"])
        for mistake, slugs in places.items()
        if len(slugs) > 1
    ]


def _in_words(fault: Any) -> str:
    """Such as `lessons.2.title: Field required`; lessons are counted from 1, as a reader does."""
    where = ".".join(str(each + 1) if isinstance(each, int) else str(each) for each in fault["loc"])
    return f"{where}: {fault['msg']}"
