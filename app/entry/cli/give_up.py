"""`meshgrade give-up`: gives up a problem, after a confirmation."""

import sys
from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from grader.core.text import plain_text

HELP = (
    "Give up on a problem. This opens its editorial. What you submit afterwards is graded, but does not count. "
    "You cannot undo it."
)


def give_up(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure) as there:
        problem = there.problem(slug)
        if not yes and not _confirms(problem.title):
            print("Nothing has changed.")
            raise typer.Exit(1)
        there.give_up(problem.slug)
    print(f"You gave up on {problem.slug}. To read its editorial: ./meshgrade editorial {problem.slug}")


def _confirms(title: str) -> bool:
    if not _at_a_terminal():
        raise StartRefused(
            "Without a terminal, this command cannot ask whether you are sure.", "If you are, add --yes."
        )
    print(
        f"Giving up “{plain_text(title)}” opens its editorial and ends scoring there. What you submit afterwards is "
        "graded, but does not count. You cannot undo it."
    )
    return typer.confirm("Give up?")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()
