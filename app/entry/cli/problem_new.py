"""`meshgrade problem new`: a package to start from."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.start_errors import StartRefused

if TYPE_CHECKING:
    from grader.verdicts.verdict import Mode

HELP = (
    "Write a new package that is complete except for the parts marked TODO(author), or with --like a copy of an "
    "existing package under a new slug."
)
_SLUG = re.compile(r"[a-z][a-z0-9_]{1,63}")
_MODES: "dict[str, Mode]" = {"call": "call", "program": "program", "answer": "answer"}


def new(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The new problem's slug, and the name of its folder.")],
    mode: Annotated[str | None, typer.Option(metavar="call|program|answer", help="Default: call.")] = None,
    track: Annotated[
        str | None, typer.Option(help="The id or title of a track in tracks.toml, if the folder has one.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(metavar="SLUG_OR_PATH", help="Copy this package instead of writing a new one.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write it in. Default: the problems folder.")
    ] = None,
) -> None:
    from app.core.settings import load_settings

    problems = load_settings().problems
    into = into or problems
    folder = into / slug
    require_new(slug, folder)
    if mode is not None and mode not in _MODES:
        raise StartRefused(f"--mode: there is no mode {mode!r}.", "Write --mode call, --mode program or --mode answer.")
    title = _title_of(track, into, problems) if track is not None else None
    files = _copied(slug, mode, title, like, into, problems) if like is not None else _new(slug, mode, title)
    if like is None:
        files["problem.toml"] = _schema_line(folder) + files["problem.toml"]
    write_package(folder, files)
    marks = sum("TODO(author)" in line for text in files.values() for line in text.splitlines())
    print(f"Wrote {folder}, with {len(files)} files and {marks} parts to fill in.")
    print(f"To list them: ./meshgrade problem check {folder}")
    if title is not None:
        print(f'To order it within its track: add "{slug}" to problems in {_tracks_file(into, problems)}.')


def require_new(slug: str, folder: Path) -> None:
    """Raises `StartRefused` if this cannot be the folder of a new package."""
    if not _SLUG.fullmatch(slug):
        raise StartRefused(
            f"{slug[:80]!r} cannot be a slug.",
            "Use 2 to 64 lower-case letters, digits and _, beginning with a letter, such as row_sums.",
        )
    if folder.exists() or folder.is_symlink():
        raise StartRefused(
            f"{folder} already exists. Nothing was written.", "Choose another slug, or another folder with --into."
        )


def _new(slug: str, mode: str | None, title: str | None) -> dict[str, str]:
    from app.authoring.package_template import new_package

    return new_package(slug, _MODES[mode or "call"], title or "Drafts")


def _schema_line(folder: Path) -> str:
    """Where an editor finds the keys of problem.toml: relative, because a checkout can be anywhere."""
    from app.core.settings import CHECKOUT

    schema = CHECKOUT / "docs" / "problem.schema.json"
    if not schema.is_file():
        return ""
    return f"#:schema {Path(os.path.relpath(schema, folder.resolve())).as_posix()}\n"


def _copied(slug: str, mode: str | None, title: str | None, like: str, into: Path, problems: Path) -> dict[str, str]:
    from app.authoring.package_template import copied_package
    from app.entry.cli.submission_arguments import package_of

    beside = into / like
    package = package_of(str(beside) if "/" not in like and beside.is_dir() else like)
    if mode is not None and mode != package.manifest.mode:
        raise StartRefused(
            f"--mode: {package.slug} is in {package.manifest.mode} mode, so a copy cannot be in {mode} mode.",
            "Leave out --mode, or name another problem with --like.",
        )
    return copied_package(package.files, slug, title)


def _tracks_file(into: Path, problems: Path) -> Path:
    from app.problems.tracks import FILE

    return into / FILE if (into / FILE).is_file() else problems / FILE


def _title_of(track: str, into: Path, problems: Path) -> str:
    """The title of the track with this title or id. If there are no tracks, any title is accepted."""
    from app.problems.tracks import read_tracks
    from grader.review.names import suggest

    file = _tracks_file(into, problems)
    tracks = read_tracks(file.parent)
    titles = {name: each.title for each in tracks for name in (each.id, each.title)}
    if track not in titles and tracks:
        raise StartRefused(
            f"--track: {file} has no track {track!r}{suggest(track, titles)}.",
            f"Name one of {', '.join(each.id for each in tracks)}, or add the track to that file first.",
        )
    return titles.get(track, track)


def write_package(folder: Path, files: dict[str, str]) -> None:
    """Raises `StartRefused` if the folder cannot be written."""
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # "x": what appears in between is never overwritten.
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise StartRefused(
            f"{error.filename} cannot be written: {error.strerror}.", "Name a folder that you can write to with --into."
        ) from None
