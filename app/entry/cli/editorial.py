"""`meshgrade editorial`: prints the editorial of a problem."""

from typing import Annotated

import typer

from app.core.start_errors import ServerRefused, StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from grader.core.text import plain_text

HELP = "Print the editorial of a problem that you have solved or given up."


def editorial(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure) as there:
        try:
            found = there.editorial(slug)
        except ServerRefused as refusal:
            if refusal.slug != "editorial-closed":
                raise
            raise StartRefused(str(refusal), f"To give up on it: ./meshgrade give-up {slug}") from None
    print(plain_text(found.editorial.strip()))
