"""`meshgrade submit`: has a server grade a file, with a score."""

import typer

from app.entry.cli.remote.connection import InsecureOption, ServerOption
from app.entry.cli.remote.submission_sender import FileArgument, JSONOption, ProblemOption, send

HELP = (
    "Submit FILE to the server, to be graded on all cases with a score. Ctrl-C cancels it. "
    "Exit status: 0 accepted, 1 rejected, 3 failed, 2 wrong usage."
)


def submit(
    file: FileArgument,
    problem: ProblemOption = None,
    as_json: JSONOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    raise typer.Exit(send("attempts", file, problem, server, insecure=insecure, as_json=as_json))
