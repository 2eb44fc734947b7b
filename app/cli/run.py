"""`meshgrade run`: runs a file on a server's public cases."""

from typing import Annotated

import typer

from app.cli.remote.connect import InsecureOption, ServerOption
from app.cli.remote.send import FileArgument, JSONOption, ProblemOption, send
from app.start_errors import StartRefused

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Run FILE on the server's public cases, or on inputs of your own, without a score. Ctrl-C cancels it. "
    "Exit status: 0 passed, 1 rejected, 3 failed, 2 wrong usage."
)
def run(
    file: FileArgument,
    problem: ProblemOption = None,
    as_json: JSONOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Run on inputs of your own: values drawn from this seed, in the public cases' form."),
    ] = None,
    mesh: Annotated[
        str | None,
        typer.Option(metavar="NAME=SIZE,…", help="With --seed: only on this mesh of the problem, such as fsdp=8."),
    ] = None,
) -> None:
    if mesh is not None and seed is None:
        raise StartRefused("--mesh needs --seed.", "Add --seed NUMBER: it chooses the values of your own inputs.")
    inputs = None if seed is None else {"seed": seed, "mesh": mesh}
    raise typer.Exit(send("runs", file, problem, server, insecure=insecure, as_json=as_json, inputs=inputs))
