"""`meshgrade run`: runs a file on a server's public cases."""

import typer

from app.cli.remote.connect import InsecureOption, ServerOption
from app.cli.remote.send import FileArgument, JSONOption, ProblemOption, send

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Run FILE on the server's public cases, without a score. Ctrl-C cancels it. "
    "Exit status: 0 passed, 1 rejected, 3 failed, 2 wrong usage."
)
def run(
    file: FileArgument,
    problem: ProblemOption = None,
    as_json: JSONOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    raise typer.Exit(send("runs", file, problem, server, insecure=insecure, as_json=as_json))
