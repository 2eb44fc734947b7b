"""`meshgrade explore`: shows what any function compiles to on a mesh."""

from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.compiled_programs import CHIP, read_sources, show_compiled
from app.entry.cli.open_exploration import OpenOption, open_explored
from app.entry.cli.remote.connection import InsecureOption, ServerOption
from grader.core.chips import ChipName

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Show what FUNCTION of FILE compiles to on a mesh of up to 256 devices, which this machine need not have: "
    "where each leaf lives, the communication between devices, memory and FLOPs. With --against, show how it differs "
    "from another file. Exit status: 0 shown, 1 a file has no program, 3 failed, 2 wrong usage."
)
def explore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The source; - reads standard input.")],
    function: Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION", help="Its name. It gets the mesh first if its first parameter is named `mesh`."
        ),
    ],
    mesh: Annotated[str, typer.Option(metavar="AXES", help="The axes and their sizes, as in data=4,model=2.")],
    inputs: Annotated[
        list[str],
        typer.Option(
            "--input",
            metavar="INPUT",
            help="An argument, as in 'x: float32[1024, 512] P(\"data\")'. Repeat it for each one, in order.",
        ),
    ],
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="Show what differs from the same function of this file instead.")
    ] = None,
    chip: Annotated[ChipName | None, CHIP] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    open_page: OpenOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    from grader.inputs.explored_function import read_function

    try:
        found = read_function(function, mesh, "\n".join(inputs))
    except ValueError as error:
        raise StartRefused(str(error), "`./meshgrade explore --help` shows the notation.") from None
    sources = read_sources(file, against)
    if open_page:
        subject = {"function": found.model_dump(mode="json")}
        return open_explored(subject, sources, chip, server, insecure=insecure, as_json=as_json)
    show_compiled(
        lambda judge, source, context: judge.inspect_function(found, source, context, chip=chip),
        sources,
        as_json=as_json,
    )
