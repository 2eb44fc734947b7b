"""`meshgrade run`: runs a file on a server's public cases."""

import json
from typing import Annotated, Any

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption
from app.entry.cli.remote.submission_sender import FileArgument, JSONOption, ProblemOption, send

HELP = (
    "Run FILE on the server's public cases, or on inputs of your own, without a score. Ctrl-C cancels it. "
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
        typer.Option(
            min=0, help="Run on your own inputs: values drawn from this seed, in the form of the public cases."
        ),
    ] = None,
    mesh: Annotated[
        str | None,
        typer.Option(metavar="NAME=SIZE,…", help="With --seed: only on this mesh of the problem, such as fsdp=8."),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=JSON", help="Type an argument, such as lr=0.1 or x='[[1, 2]]'; repeat it for others."
        ),
    ] = None,
) -> None:
    values = _values(value or [])
    if mesh is not None and seed is None:
        raise StartRefused("--mesh needs --seed.", "Add --seed NUMBER: it chooses the values of your own inputs.")
    inputs = None
    if seed is not None or values:
        inputs = {"seed": seed or 0, "mesh": mesh} | ({"values": values} if values else {})
    raise typer.Exit(send("runs", file, problem, server, insecure=insecure, as_json=as_json, inputs=inputs))


def _values(arguments: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for each in arguments:
        name, separator, text = each.partition("=")
        try:
            value = json.loads(text) if separator else None
        except (ValueError, RecursionError):
            value = None
        if not name or value is None or name in values:
            raise StartRefused(
                f"--value {each[:80]!r} is not NAME=JSON, or names an argument twice.",
                "Write a number or nested lists, such as --value lr=0.1 --value x='[[1, 2], [3, 4]]'.",
            )
        values[name] = value
    return values
