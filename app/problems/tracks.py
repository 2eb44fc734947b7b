"""The curriculum: `tracks.toml` in the problems folder gives the order of tracks and of the problems in each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from app.core.web.icons import GLYPHS
from grader.core.errors import MeshgradeError
from grader.core.toml import TomlInvalid, read_toml
from grader.package.package import Line, Package, Slug
from grader.review.names import suggest

FILE = "tracks.toml"
MORE = "More"
# The id of the section with the problems that only members of a course see.
PRIVATE = "only-in-your-courses"
COLOURS = 15
PLAIN = "track"
_DIFFICULTIES = ("easy", "medium", "hard")


class TracksInvalid(MeshgradeError):
    """The curriculum cannot be used. The message lists every fault, one a line."""

    def __init__(self, file: str, faults: list[str]) -> None:
        super().__init__(f"{file} gives no order of problems:\n" + "\n".join(f"  - {fault}" for fault in faults))
        self.faults = faults


def _known_glyph(name: str) -> str:
    if name not in GLYPHS:
        raise ValueError(f"there is no glyph '{name}'{suggest(name, sorted(GLYPHS))}")
    return name


class Track(BaseModel):
    """One `[[tracks]]` table. `teaches` is a sentence or two; `id` is what addresses name the track by.

    `colour` counts in the palette of tracks. Without one, it is the track's place in the file. `minutes` says how
    long each problem takes, in the order of `problems`.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    title: Line
    teaches: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    problems: list[Slug] = Field(min_length=1)
    colour: Annotated[int, Field(ge=1, le=COLOURS)] | None = None
    glyph: Annotated[str, AfterValidator(_known_glyph)] = PLAIN
    minutes: list[Annotated[int, Field(ge=1, le=600)]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _each_problem_has_minutes(self) -> Self:
        if self.minutes and len(self.minutes) != len(self.problems):
            raise ValueError(f"minutes has {len(self.minutes)} numbers for {len(self.problems)} problems")
        return self


class _TracksFile(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    tracks: list[Track] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Section:
    """A track with those of its problems that are served, in order. `teaches` is empty if no file says it.

    The macro `track_mark` draws its glyph in its colour. `minutes` has an estimate by slug, if the file gives one.
    """

    id: str
    title: str
    teaches: str
    packages: tuple[Package, ...]
    colour: int = 1
    glyph: str = PLAIN
    minutes: Mapping[str, int] = field(default_factory=dict)


def read_tracks(folder: Path) -> tuple[Track, ...]:
    """Read the curriculum of a problems folder; empty if it has none.

    Raises:
      TracksInvalid: with every fault found, not only the first.
    """
    file = folder / FILE
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise TracksInvalid(str(file), [f"it cannot be read: {error}"]) from None
    try:
        tracks = _TracksFile.model_validate(read_toml(text)).tracks
    except TomlInvalid as error:
        raise TracksInvalid(str(file), [f"it is not TOML: {error}"]) from None
    except ValidationError as error:
        raise TracksInvalid(str(file), [_in_words(each) for each in error.errors()]) from None
    if faults := _repeated(tracks):
        raise TracksInvalid(str(file), faults)
    return tuple(tracks)


def unknown_problems(tracks: Iterable[Track], slugs: Iterable[str]) -> list[str]:
    """One message for each problem that a track names and that is not served."""
    known = list(slugs)
    return [
        f"{FILE}: track '{track.id}': there is no problem '{slug}'{suggest(slug, known)}"
        for track in tracks
        for slug in track.problems
        if slug not in known
    ]


def arrange(packages: Sequence[Package], tracks: Sequence[Track]) -> tuple[Section, ...]:
    """Every package in one section: in the order of `tracks`, those that no track names last.

    Without tracks, a section is what manifests call their track, and the easy problems of each come first.
    """
    if not tracks:
        titles = sorted({package.manifest.track for package in packages})
        return tuple(
            Section(
                _id_of(title),
                title,
                "",
                _easy_first(each for each in packages if each.manifest.track == title),
                _colour(place),
            )
            for place, title in enumerate(titles)
        )
    left = {package.slug: package for package in packages}
    sections = []
    for place, track in enumerate(tracks):
        served = tuple(left.pop(slug) for slug in track.problems if slug in left)
        if served:
            colour = track.colour or _colour(place)
            minutes = dict(zip(track.problems, track.minutes, strict=False))
            sections.append(Section(track.id, track.title, track.teaches, served, colour, track.glyph, minutes))
    if left:
        sections.append(Section(_id_of(MORE), MORE, "", _easy_first(left.values()), _colour(len(tracks))))
    return tuple(sections)


def _colour(place: int) -> int:
    return place % COLOURS + 1


def _easy_first(packages: Iterable[Package]) -> tuple[Package, ...]:
    return tuple(sorted(packages, key=lambda each: (_DIFFICULTIES.index(each.manifest.difficulty), each.slug)))


def _id_of(title: str) -> str:
    """Titles that differ only in punctuation share an address, and a filter then shows both."""
    return "-".join("".join(char if char.isalnum() else " " for char in title.lower()).split()) or "untitled"


def _repeated(tracks: list[Track]) -> list[str]:
    faults = []
    for what, values in (
        ("the id", [track.id for track in tracks]),
        ("the title", [track.title for track in tracks]),
        ("the problem", [slug for track in tracks for slug in track.problems]),
    ):
        faults += [f"{what} '{value}' is listed {n} times" for value, n in Counter(values).items() if n > 1]
    reserved = [track.id for track in tracks if track.id in (_id_of(MORE), PRIVATE)]
    faults += [f"the id '{each}' is reserved for problems that no track names" for each in reserved]
    return faults


def _in_words(fault: Any) -> str:
    """Such as `tracks.2.teaches: Field required`; tracks are counted from 1, as a reader does."""
    where = ".".join(str(each + 1) if isinstance(each, int) else str(each) for each in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = Track.model_fields if len(fault["loc"]) > 1 else _TracksFile.model_fields
        return f"unknown key '{where}'{suggest(str(fault['loc'][-1]), known)}"
    return f"{where}: {fault['msg']}"
