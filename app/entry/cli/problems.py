"""`meshgrade problems`: lists a server's problems, with your best scores."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.start_errors import NotLoggedIn
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected

if TYPE_CHECKING:
    from app.entry.cli.remote.responses import ProblemLine
    from app.entry.cli.remote.server import Server
HELP = "List the server's problems, with your best scores if you are logged in."


def problems(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure, anybody=True) as there:
        listed, best = there.problems(), _best_scores(there)
    if as_json:
        lines = [each.model_dump() | {"best_score": best.get(each.slug)} for each in listed]
        print(json.dumps(lines, indent=2, ensure_ascii=False))
    else:
        _print(listed, best)


def _best_scores(server: "Server") -> dict[str, int]:
    try:
        progress = server.progress()
    except NotLoggedIn:  # the list is public
        return {}
    return {each.problem: each.best_score for each in progress.problems if each.best_score is not None}


def _print(listed: "list[ProblemLine]", best: dict[str, int]) -> None:
    from rich.console import Console
    from rich.table import Table

    from app.entry.cli.verdict_text import safe

    table = Table()
    for column in ("problem", "title", "track", "difficulty"):
        table.add_column(column, no_wrap=column == "problem")
    table.add_column("best", justify="right")
    for each in listed:
        score = best.get(each.slug)
        table.add_row(
            each.slug, safe(each.title), safe(each.track), safe(each.difficulty), "" if score is None else str(score)
        )
    Console(highlight=False).print(table)
