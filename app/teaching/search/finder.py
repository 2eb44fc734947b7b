"""What one search over the site finds: pages, problems, lessons, reasons, settings, courses and people, by right, and
then sections of texts."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from app.accounts.caller import Caller
from app.accounts.roles import is_at_least
from app.core.rest.paging import Cursor
from app.core.view import View
from app.core.web.areas import AREAS
from app.learning.calculators.tables import CALCULATORS
from app.learning.lessons.lesson_files import Lessons
from app.presentation.reasons import REASONS
from app.problems.catalogue import Catalogue
from app.teaching.courses.service import Courses
from app.teaching.people.directory import Directory, PeopleFilter
from app.teaching.search.section_search import SectionSearch, Span

LONGEST = 100
_GROUPS = ("Problems", "Lessons", "Pages", "Reasons", "Settings", "Courses", "People")
IN_TEXTS = "In texts"
_PAGES = (
    ("Problems", "Everything to solve, in tracks", "/problems"),
    ("Lessons", "Short texts to read before the problems", "/lessons"),
    ("Explorer", "What a source compiles to", "/explore"),
    ("Calculators", "What a step stores, sends and computes", "/calculators"),
    ("Compare strategies", "One model, trained in several ways", "/comparison"),
    ("Verdict reasons", "Why a submission is rejected", "/help/reasons"),
    ("REST API", "Every request that programs can send", "/help/rest"),
)
_OWN_PAGES = (
    ("My progress", "Points in each track, and active days", "/progress"),
    ("My attempts", "Everything that you submitted", "/attempts"),
    ("Courses", "Yours, with what is due", "/courses"),
)
_SETTINGS = (
    ("Account", "Name, and all settings", "/account"),
    ("Password", "Change it", "/account#password"),
    ("Other ways to sign in", "Google, GitHub, your institution", "/account#identities"),
    ("Rankings", "Whether you appear in them", "/account#rankings"),
    ("Time zone", "Of all times that pages show", "/account#zone"),
    ("Theme", "Colours of all pages", "/account#theme"),
    ("Editor settings", "Text size, indent, Vim keys", "/account#editor"),
    ("Where you are signed in", "Sessions, and how to end them", "/account#sessions"),
    ("API tokens", "For the command line and programs", "/account/tokens"),
    ("Your data", "Export everything, or delete your account", "/account#data"),
)


class Hit(View):
    """One result. `snippet` is the place in a text where the words are; empty for what was found by its title."""

    group: str
    title: str
    detail: str
    path: str
    snippet: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """`words` is what a search looks in besides the title."""

    hit: Hit
    words: str = ""

    def rank(self, query: str) -> int | None:
        """None if a word of the query is missing, else how far down the result belongs."""
        title = self.hit.title.lower()
        looked_in = f"{title} {self.hit.detail} {self.words}".lower()
        if not all(word in looked_in for word in query.split()):
            return None
        return 0 if title.startswith(query) else 1 if query in title else 2


class Finder:
    """Safe to share between requests."""

    def __init__(
        self,
        catalogue: Catalogue,
        lessons: Lessons,
        courses: Courses,
        directory: Directory,
        sections: SectionSearch,
    ) -> None:
        self._catalogue, self._lessons, self._courses, self._directory = catalogue, lessons, courses, directory
        self._sections = sections

    async def find(self, caller: Caller | None, q: str, most: int) -> list[Hit]:
        """At most `most` results of each group, in the order of groups, and last the sections of texts that were not
        found by their titles. An empty query finds pages and settings.
        """
        query = " ".join(q.lower().split())[:LONGEST]
        entries = [*_places(caller), *_courses(await self._visible(caller))]
        if query:
            entries += [*self._content(), *await self._people(caller, query, most)]
        found: dict[str, list[tuple[int, Hit]]] = {group: [] for group in _GROUPS}
        for entry in entries:
            if (rank := entry.rank(query)) is not None:
                found[entry.hit.group].append((rank, entry.hit))
        by_title = [hit for hits in found.values() for _, hit in sorted(hits, key=lambda each: each[0])[:most]]
        return by_title + await self._in_texts(query, most, {hit.path for hit in by_title})

    async def _in_texts(self, query: str, most: int, shown: Collection[str]) -> list[Hit]:
        sections = await self._sections.find(query, most + len(shown))
        hits = (
            Hit(group=IN_TEXTS, title=each.title, detail=each.source, path=each.path, snippet=each.snippet)
            for each in sections
            if each.path not in shown
        )
        return list(islice(hits, most))

    def _content(self) -> Iterator[_Entry]:
        for package in self._catalogue.all():
            manifest = package.manifest
            hit = Hit(group="Problems", title=manifest.title, detail=manifest.summary, path=f"/problems/{package.slug}")
            yield _Entry(hit, " ".join((package.slug, manifest.track, *manifest.tags)))
        for lesson in self._lessons.all():
            hit = Hit(group="Lessons", title=lesson.title, detail=lesson.summary, path=f"/lessons/{lesson.slug}")
            yield _Entry(hit, " ".join((lesson.slug, *lesson.problems)))
        for reason, explained in REASONS.items():
            hit = Hit(group="Reasons", title=explained.name, detail=explained.sentence, path=f"/help/reasons#{reason}")
            yield _Entry(hit, reason)

    async def _visible(self, caller: Caller | None) -> Iterable[tuple[str, str]]:
        if caller is None:
            return []
        return [(each.name, each.id) for each in await self._courses.visible_to(caller.user)]

    async def _people(self, caller: Caller | None, query: str, most: int) -> list[_Entry]:
        """Only for those who may open the list of people, with what they sent the request with."""
        if caller is None or "instruct" not in caller.scopes or not is_at_least(caller.user.role, "instructor"):
            return []
        people = await self._directory.list(PeopleFilter.read({"q": query}), Cursor(most))
        return [
            _Entry(
                Hit(
                    group="People",
                    title=each.name,
                    detail=" · ".join((*([each.identity.words] if each.identity else []), each.role)),
                    path=f"/people/{each.id}",
                ),
                query,  # what matched is perhaps in an older line
            )
            for each in people
        ]


def _places(caller: Caller | None) -> Iterator[_Entry]:
    for title, detail, path in (*_PAGES, *(_OWN_PAGES if caller else ())):
        yield _Entry(Hit(group="Pages", title=title, detail=detail, path=path))
    for each in CALCULATORS:
        yield _Entry(Hit(group="Pages", title=each.title, detail="Calculator", path=f"/calculators/{each.name}"))
    if caller is None:
        return
    for title, detail, path in _SETTINGS:
        yield _Entry(Hit(group="Settings", title=title, detail=detail, path=path))
    for area, places in AREAS.items():
        for place in places:
            if is_at_least(caller.user.role, place.minimum) and place.path != "/courses":
                title = area if place.text == "Overview" else place.text
                yield _Entry(Hit(group="Pages", title=title, detail=area, path=place.path))


def _courses(courses: Iterable[tuple[str, str]]) -> Iterator[_Entry]:
    for name, id_ in courses:
        yield _Entry(Hit(group="Courses", title=name, detail="Course", path=f"/courses/{id_}"))
