"""The texts that the search looks in, divided into sections, each with its address.

This is the list of what may be found by its words: lessons, the statements of published problems, and help pages.
Everything else is left out: hints, editorials, cases, what only a course sees, and sections that differ between the
variants of a problem.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path

from app.core.web.markdown import render_markdown
from app.learning.lessons.lesson import Figure, Lesson, Misreading, Part, Program, Question, SideNote, Steps, Text
from app.learning.lessons.lesson_files import Lessons
from app.operations.help.pages import every_refusal
from app.operations.help.rest_reference import RestOperations
from app.presentation.reasons import REASONS
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import RenderedTexts, renderer, texts_of
from app.problems.viewer import NOBODY, viewed_by
from grader.package.package import Package
from grader.package.variants import every_variant

_PROBLEM = "problem:"


@dataclass(frozen=True, slots=True)
class Section:
    """`path` is the address of the section, with its anchor. `heading` is empty before the first heading."""

    path: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A page with a text. `read` divides it into sections, and need not be called while `digest` stays the same."""

    key: str
    kind: str
    title: str
    digest: str
    read: Callable[[], Awaitable[list[Section]]]


class SearchedTexts:
    """Safe to share between requests."""

    def __init__(self, catalogue: Catalogue, lessons: Lessons, texts: RenderedTexts, rest: RestOperations) -> None:
        self._catalogue, self._lessons, self._texts, self._rest = catalogue, lessons, texts, rest

    @cached_property
    def _fixed(self) -> dict[str, Document]:
        """What does not change while the server runs. The start does not wait until it has been read."""
        found = (*map(self._lesson, self._lessons.all()), *_help_pages(self._rest))
        return {each.key: each for each in found}

    def documents(self) -> list[Document]:
        """What everybody may read now, in the order of the keys."""
        with viewed_by(NOBODY):
            found = [*self._fixed.values(), *map(self._problem, self._catalogue.all())]
        return sorted(found, key=lambda each: each.key)

    def shows(self, key: str, digest: str) -> bool:
        """Whether the viewer of the request reads this document in this state. Members of a course may read another
        version of a problem.
        """
        if not key.startswith(_PROBLEM):
            return key in self._fixed and self._fixed[key].digest == digest
        slug = key.removeprefix(_PROBLEM)
        version = self._catalogue.version_of(slug)
        return version is not None and version == self._catalogue.published_version(slug) and digest == _digest(version)

    def _lesson(self, lesson: Lesson) -> Document:
        digest = _digest(lesson.title, lesson.markdown)
        read = partial(asyncio.to_thread, _sections_of, lesson)
        return Document(f"lesson:{lesson.slug}", "Lesson", lesson.title, digest, read)

    def _problem(self, package: Package) -> Document:
        title, read = package.manifest.title, partial(self._statement, package)
        return Document(f"{_PROBLEM}{package.slug}", "Problem", title, _digest(package.version), read)

    async def _statement(self, package: Package) -> list[Section]:
        """The sections that every variant has."""
        first, *others = [await self._rendered(each) for each in every_variant(package)]
        return [each for each in first if all(each in other for other in others)]

    async def _rendered(self, package: Package) -> list[Section]:
        with viewed_by(NOBODY):
            titles = self._catalogue.titles()
        [prose] = await self._texts.show(texts_of(package)["statement.md"], "", titles)
        page = f"/problems/{package.slug}"
        return [
            Section(f"{page}#{each.heading.anchor}", each.heading.text, each.body.striptags())
            if each.heading
            else Section(page, "", each.body.striptags())
            for each in prose.sections
        ]


@dataclass(slots=True)
class _Open:
    """A section of a lesson, to which more is added."""

    path: str
    heading: str = ""
    texts: list[str] = field(default_factory=list)


def _sections_of(lesson: Lesson) -> list[Section]:
    page = f"/lessons/{lesson.slug}"
    found = [_Open(page)]
    for part in lesson.parts:
        if isinstance(part, Text):
            for each in render_markdown(part.markdown).sections:
                if each.heading:
                    found.append(_Open(f"{page}#{each.heading.anchor}", each.heading.text))
                found[-1].texts.append(each.body.striptags())
        else:
            found[-1].texts += _words_of(part)
    sections = (Section(each.path, each.heading, "\n".join(each.texts)) for each in found)
    return [each for each in sections if each.text]


def _words_of(part: Part) -> Iterator[str]:
    """What the page shows of a part besides text. Answers to questions are left out."""
    match part:
        case Program(block=block):
            yield from (block.code, block.output)
        case Figure():
            yield _plain(part.caption)
        case Steps():
            yield from (_plain(part.title), *(_plain(each.figure.caption) for each in part.steps))
        case Misreading():
            yield from (_plain(part.wrong), _plain(part.right))
        case SideNote():
            yield _plain(part.markdown)
        case Question():
            yield from (_plain(part.text), *map(_plain, part.spec.choices))


def _help_pages(rest: RestOperations) -> Iterator[Document]:
    reasons = [
        Section(f"/help/reasons#{reason}", each.name, f"{each.sentence} {each.advice}")
        for reason, each in REASONS.items()
    ]
    yield _help_page("reasons", "Reasons for rejection", reasons)
    errors = [
        Section(f"/help/errors#{each.slug}", each.title, f"{each.slug} ({each.status})") for each in every_refusal()
    ]
    yield _help_page("errors", "Errors of the REST API", errors)
    operations = [Section(f"/help/rest#{each.id}", each.title, _plain(each.text)) for each in rest]
    yield _help_page("rest", "REST API", operations)


def _help_page(name: str, title: str, sections: list[Section]) -> Document:
    async def read() -> list[Section]:
        return sections

    return Document(f"help:{name}", "Help", title, _digest(repr(sections)), read)


def _plain(markdown: str) -> str:
    return render_markdown(markdown).html.striptags()


def _digest(*texts: str) -> str:
    """Of the texts, and of the code that divides them."""
    return hashlib.sha256(repr((_code(), renderer(), texts)).encode()).hexdigest()


@cache
def _code() -> bytes:
    return Path(__file__).read_bytes()
