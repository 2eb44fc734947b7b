"""`meshgrade problem push`: uploads a package to a server and has it validated there."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.problem_check import packages_at
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from grader.core.text import plain_text

if TYPE_CHECKING:
    from app.entry.cli.remote.responses import Validation
    from app.entry.cli.remote.server import Server
    from grader.package.package import Package

HELP = (
    "Upload a package to the server as a new version and have it validated there. Students do not see it until it is "
    "published. Exit status: 0 validated, 1 its validation failed, 3 the server is down, 2 wrong usage."
)
_LOOK_S = 1.0


def push(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The package's folder, or a slug.")],
    publish: Annotated[bool, typer.Option("--publish", help="Publish it if its validation passes.")] = False,
    no_validate: Annotated[bool, typer.Option("--no-validate", help="Only upload it.")] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    if publish and no_validate:
        raise StartRefused("--publish needs a validation.", "Remove one of --publish and --no-validate.")
    package = _finished(path)
    from app.authoring.package_zip import zip_of

    with connected(server, insecure=insecure) as there:
        upload = there.upload(package.slug, zip_of(package.files))
        print(f"Uploaded {package.slug}, version {upload.version[:12]}.")
        if no_validate:
            return
        validation = _validated(there, package.slug, upload.version)
        faults = [each for each in validation.steps if not each.passed]
        for each in faults:
            print(f"  {plain_text(each.file)}: {plain_text(each.message)}")
        if not validation.passed:
            print(f"Its validation failed: {len(faults)} of {validation.total} steps did not pass.")
            raise typer.Exit(1)
        print(f"Its validation passed: {validation.total} steps.")
        if publish:
            publication = there.publish(package.slug, upload.version, force=False)
            print_publication(package.slug, upload.version, publication.attempts_at_other_versions)
        elif not upload.published:
            print(f"To publish it: ./meshgrade problem publish {package.slug}")


def print_publication(slug: str, version: str, others: int) -> None:
    print(f"Published {slug}, version {version[:12]}.")
    if others:
        noun = "1 attempt was" if others == 1 else f"{others} attempts were"
        print(f"{noun} graded by another version. To rejudge: docs/rest.md#rejudging.")


def _finished(path: str) -> "Package":
    """The package, if its files break no rule that an upload would not find."""
    from app.core.settings import load_settings
    from grader.review.reader import read_package
    from grader.review.rules import MARK

    folders = packages_at(path)
    if len(folders) > 1:
        raise StartRefused(f"{path} contains {len(folders)} packages.", f"Name one of them, such as {folders[0]}.")
    package = read_package(folders[0], load_settings().ceiling)
    marks = [
        f"{name}:{number}"
        for name, text in package.files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if MARK in line
    ]
    if marks:
        raise StartRefused(
            f"{package.slug} is not finished: {MARK} is left in {', '.join(marks[:3])}"
            f"{f' and {len(marks) - 3} more places' if len(marks) > 3 else ''}.",
            f"Write these parts: ./meshgrade problem check {Path(path)} lists them.",
        )
    return package


def _validated(there: "Server", slug: str, version: str) -> "Validation":
    """The validation of a version as soon as it has finished."""
    from rich.console import Console

    validation = there.validate(slug, version)
    with Console(stderr=True).status("waiting for the judge") as status:
        try:
            while validation.status != "finished":
                time.sleep(_LOOK_S)
                validation = there.validation(slug, validation.id)
                status.update(f"{len(validation.steps)} of {validation.total} steps")
        except KeyboardInterrupt:
            print("The version is uploaded. Its validation continues on the server.", file=sys.stderr)
            raise
    return validation
