"""`meshgrade problem publish`: has a server serve a version that it stores."""

from typing import Annotated

import typer

from app.entry.cli.problem_push import print_publication
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from app.entry.cli.remote.versions import full_version

HELP = (
    "Publish a version of a problem that was pushed to the server. Earlier attempts keep their version and their score."
)


def publish(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="At least its first 6 characters. Default: the latest one.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Publish it even without a passed validation. This stays on record.")
    ] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure) as there:
        chosen = full_version(there, slug, version)
        publication = there.publish(slug, chosen, force=force)
    print_publication(slug, chosen, publication.attempts_at_other_versions)
