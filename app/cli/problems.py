"""`meshgrade problems`: what there is to solve at a server, and how far one has come."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.remote.connect import InsecureOption, ServerOption, connected
from app.start_errors import NotLoggedIn, ServerRefused

if TYPE_CHECKING:
    from app.cli.remote.answers import ProblemLine
    from app.cli.remote.server import Server

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help="List the problems of the server, with your best score where you are logged in.")
def problems(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure, anybody=True) as there:
        found, best = there.problems(), _best_scores(there)
    if as_json:
        lines = [each.model_dump() | {"best_score": best.get(each.slug)} for each in found]
        print(json.dumps(lines, indent=2, ensure_ascii=False))
    else:
        _print(found, best)


def _best_scores(server: "Server") -> dict[str, int]:
    try:
        progress = server.progress()
    except NotLoggedIn:  # the list is open to everybody
        return {}
    except ServerRefused as refused:
        if refused.slug != "not-found":  # a server from before there was progress to ask for
            raise
        return {}
    return {each.problem: each.best_score for each in progress.problems if each.best_score is not None}


def _print(found: "list[ProblemLine]", best: dict[str, int]) -> None:
    from rich.console import Console
    from rich.table import Table

    from app.cli.verdict_text import safe

    table = Table()
    for column in ("problem", "title", "track", "difficulty"):
        table.add_column(column, no_wrap=column == "problem")
    table.add_column("best", justify="right")
    for each in found:
        score = best.get(each.slug)
        table.add_row(
            each.slug, safe(each.title), safe(each.track), safe(each.difficulty), "" if score is None else str(score)
        )
    Console(highlight=False).print(table)
