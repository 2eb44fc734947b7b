"""The catalogue as its page shows it: tracks in order, the reader's progress, and what a filter leaves."""

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, get_args

from app.core.web.choices import one_of
from app.grading.attempts.next_problem import next_stops
from app.grading.attempts.progress import Progress
from app.learning.workbench.solving_times import MINUTES_BY_DIFFICULTY, SolvingTime
from app.problems.tracks import Section
from app.problems.written_lines import lines_to_write
from grader.package.package import Package

State = Literal["new", "tried", "solved"]
Difficulty = Literal["easy", "medium", "hard"]
STATES: tuple[State, ...] = get_args(State)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
_MAX_TEXT = 100
_UNTIMED: Mapping[str, SolvingTime] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Named:
    """A problem by name, with the reader's progress. It `is_over` once it is solved or given up."""

    slug: str
    title: str
    state: State
    is_over: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One problem. `best` is the reader's best score, null without one; `needs` are prerequisites that are served.

    `difficulty` is of the idea, and `lines` is the code to write, null if none is. `minutes` is how long it takes: what
    `timed_by` people took, or an estimate if that is 0; null without one. `words` is what a search looks in, in lower
    case. `outcome` continues "You can now", and is empty if the author gave none.
    """

    slug: str
    title: str
    summary: str
    track: str
    difficulty: str
    tags: tuple[str, ...]
    state: State
    best: int | None
    needs: tuple[Named, ...]
    words: str
    is_ranked: bool
    minutes: int | None
    timed_by: int
    lines: int | None
    outcome: str

    def __hash__(self) -> int:
        # Pages keep parts by these values, so each page hashes all of them: only what differs between readers.
        return hash((self.slug, self.state, self.best))

    @property
    def likely_minutes(self) -> int:
        """How long the problem takes. Without measured times and an estimate, its difficulty says so."""
        return self.minutes or MINUTES_BY_DIFFICULTY[self.difficulty]

    @property
    def is_open(self) -> bool:
        """Whether every prerequisite is solved or given up."""
        return all(each.is_over for each in self.needs)


@dataclass(frozen=True, slots=True)
class Group:
    """One track."""

    id: str
    title: str
    teaches: str
    rows: tuple[Row, ...]
    colour: int
    glyph: str

    @property
    def solved(self) -> int:
        return sum(row.state == "solved" for row in self.rows)

    @property
    def points(self) -> int:
        """Best scores, added up."""
        return sum(row.best or 0 for row in self.rows)


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter in the address; an empty value matches everything. A row must match every value."""

    q: str = ""
    track: str = ""
    difficulty: str = ""
    state: str = ""
    tag: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Filter":
        """From the parameters of an address. A value that the page does not offer is dropped."""
        return cls(
            q=query.get("q", "").strip()[:_MAX_TEXT],
            track=query.get("track", "")[:_MAX_TEXT],
            difficulty=one_of(query.get("difficulty", ""), DIFFICULTIES),
            state=one_of(query.get("state", ""), STATES),
            tag=query.get("tag", "").strip()[:_MAX_TEXT],
        )

    @property
    def is_empty(self) -> bool:
        return self == Filter()

    def matches(self, row: Row) -> bool:
        return (
            all(word in row.words for word in self.q.lower().split())
            and self.track in ("", row.track)
            and self.difficulty in ("", row.difficulty)
            and self.state in ("", row.state)
            and (not self.tag or self.tag in row.tags)
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """All problems. `going_on`, `up_next` and `stop` are those of `NextStops`.

    Each tag is in `tags` once; the most frequent first.
    """

    groups: tuple[Group, ...]
    tags: tuple[str, ...]
    going_on: Row | None
    up_next: Row | None
    stop: Row | None

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @property
    def tracks(self) -> tuple[tuple[str, str], ...]:
        """The id and the title of each."""
        return tuple((group.id, group.title) for group in self.groups)

    @property
    def is_begun(self) -> bool:
        return any(row.state != "new" for row in self.rows)

    @property
    def solved(self) -> int:
        return sum(group.solved for group in self.groups)

    @property
    def points(self) -> int:
        return sum(group.points for group in self.groups)


def list_problems(
    sections: tuple[Section, ...],
    progress: Mapping[str, Progress],
    times: Mapping[str, SolvingTime] = _UNTIMED,
) -> Listing:
    """Arrange what is served for a reader.

    Args:
      progress: the reader's, by slug; empty for a guest.
      times: how long people took, by slug, of the problems that enough people have solved.
    """
    fresh = _fresh_listing(sections, times)
    before = fresh.listing
    # Rows that a reader's progress does not change are the same objects for all readers: most of the work is done once.
    changed = {each for slug in progress for each in fresh.shown_in.get(slug, ())}
    if not changed:
        return before
    named = fresh.named | {slug: _named(fresh.packages[slug], progress.get(slug)) for slug in changed}
    groups = tuple(
        replace(
            group,
            rows=tuple(
                _row(fresh.packages[row.slug], section, named, progress.get(row.slug), times.get(row.slug))
                if row.slug in changed
                else row
                for row in group.rows
            ),
        )
        if any(row.slug in changed for row in group.rows)
        else group
        for section, group in zip(sections, before.groups, strict=True)
    )
    return _with_stops(replace(before, groups=groups), list(fresh.packages.values()), progress)


@dataclass(frozen=True, slots=True)
class _FreshListing:
    """A listing for a reader who has tried nothing. `shown_in` has the rows that show a problem's state."""

    sections: tuple[Section, ...]
    times: Mapping[str, SolvingTime]
    packages: Mapping[str, Package]
    named: dict[str, Named]
    shown_in: Mapping[str, Collection[str]]
    listing: Listing


# The latest: what is published, with and without times, and what courses have beside it.
_LATEST: deque[_FreshListing] = deque(maxlen=16)


def _fresh_listing(sections: tuple[Section, ...], times: Mapping[str, SolvingTime]) -> _FreshListing:
    """Found by identity: to compare the values would take as long as to arrange them."""
    for each in _LATEST:
        if each.sections is sections and each.times is times:
            return each
    packages = {package.slug: package for section in sections for package in section.packages}
    named = {slug: _named(package, None) for slug, package in packages.items()}
    groups = tuple(
        Group(
            section.id,
            section.title,
            section.teaches,
            tuple(_row(package, section, named, None, times.get(package.slug)) for package in section.packages),
            section.colour,
            section.glyph,
        )
        for section in sections
    )
    shown_in = {slug: {slug} for slug in packages}
    for package in packages.values():
        for slug in package.manifest.prerequisites:
            if slug in shown_in:
                shown_in[slug].add(package.slug)
    counts = Counter(tag for group in groups for row in group.rows for tag in row.tags)
    tags = tuple(sorted(counts, key=lambda tag: (-counts[tag], tag)))
    listing = _with_stops(Listing(groups, tags, None, None, None), list(packages.values()), {})
    _LATEST.append(_FreshListing(sections, times, packages, named, shown_in, listing))
    return _LATEST[-1]


def _with_stops(listing: Listing, packages: Sequence[Package], progress: Mapping[str, Progress]) -> Listing:
    rows = {row.slug: row for row in listing.rows}
    stops = next_stops(packages, progress)
    going_on, up_next, stop = (
        rows[each.slug] if each else None for each in (stops.going_on, stops.up_next, stops.stop)
    )
    return replace(listing, going_on=going_on, up_next=up_next, stop=stop)


def _named(package: Package, progress: Progress | None) -> Named:
    return Named(package.slug, package.manifest.title, _state(progress), progress is not None and progress.is_over)


def _state(progress: Progress | None) -> State:
    if progress is None:
        return "new"
    return "solved" if progress.accepted else "tried"


def _row(
    package: Package,
    section: Section,
    named: Mapping[str, Named],
    progress: Progress | None,
    measured: SolvingTime | None,
) -> Row:
    manifest = package.manifest
    return Row(
        slug=package.slug,
        title=manifest.title,
        summary=manifest.summary,
        track=section.id,
        difficulty=manifest.difficulty,
        tags=tuple(manifest.tags),
        state=named[package.slug].state,
        best=progress.best_score if progress else None,
        needs=tuple(named[slug] for slug in manifest.prerequisites if slug in named),
        is_ranked=manifest.mode == "program",
        minutes=measured.minutes if measured else section.minutes.get(package.slug),
        timed_by=measured.people if measured else 0,
        lines=lines_to_write(package),
        outcome=manifest.outcome or "",
        words=" ".join((manifest.title, manifest.summary, package.slug, *manifest.tags)).lower(),
    )
