"""`meshgrade hint`: prints one hint of a problem."""

from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from grader.core.text import plain_text

HELP = "Print a hint for a problem. Reading hints never affects your score."


def hint(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    number: Annotated[
        int, typer.Argument(metavar="[N]", min=1, help="The number of the hint. Default: the first.")
    ] = 1,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure, anybody=True) as there:
        found = there.hints(slug)
    total = len(found.hints)
    if number > total:
        raise StartRefused(
            f"{found.problem} has {total} {'hint' if total == 1 else 'hints'}, but no hint {number}.",
            f"Name a number from 1 to {total}." if total else "Read its statement again: ./meshgrade pull SLUG",
        )
    print(f"Hint {number} of {total}\n\n{plain_text(found.hints[number - 1].strip())}")
    if number < total:
        print(f"\nThe next one: ./meshgrade hint {found.problem} {number + 1}")
