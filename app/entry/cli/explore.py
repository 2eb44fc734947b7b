"""`meshgrade explore`: shows what any function compiles to on a mesh."""

from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.chip_option import CHIP, read_chip
from app.entry.cli.compiled_programs import ARRAYS, GRAPH, read_sources, show_compiled
from app.entry.cli.installed_compiler import require_compiler
from app.entry.cli.module_files import read_modules
from app.entry.cli.open_exploration import OpenOption, open_explored
from app.entry.cli.remote.connection import InsecureOption, ServerOption, note
from app.entry.cli.xla_options import AGAINST_XLA_OPTION, XLA_OPTION, read_xla_options

_FUNCTION = typer.Argument(
    metavar="FUNCTION", help="Its name. It gets the mesh first if its first parameter is named `mesh`."
)
_MESH = typer.Option(metavar="AXES", help="The axes and their sizes, as in data=4,model=2; ! marks an Explicit axis.")
_INPUT = typer.Option(
    "--input",
    metavar="INPUT",
    help="An argument, as in 'x: float32[1024, 512] P(\"data\")' or 'steps = 4'. Repeat it for each one, in order.",
)
_INIT = typer.Option(
    metavar="NAME", help="A function of FILE that takes the mesh and a seed, and returns FUNCTION's first argument."
)
_AGAINST = typer.Option(metavar="FILE", help="Show what differs from the same function of this file instead.")
_MODULE = typer.Option(
    "--module",
    metavar="FILE",
    help="A module that FILE imports. Repeat it for each one; those beside FILE come along without it.",
)
HELP = (
    "Show what FUNCTION of FILE compiles to on a mesh of up to 256 devices, which this machine need not have: "
    "where each leaf lives, the communication between devices, memory and FLOPs. With --against, show how it differs "
    "from another file. Exit status: 0 shown, 1 a file has no program, 3 failed, 2 wrong usage."
)


def explore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The source; - reads standard input.")],
    function: Annotated[str, _FUNCTION],
    mesh: Annotated[str, _MESH],
    inputs: Annotated[list[str] | None, _INPUT] = None,
    init: Annotated[str, _INIT] = "",
    against: Annotated[str | None, _AGAINST] = None,
    modules: Annotated[list[str] | None, _MODULE] = None,
    chip: Annotated[str | None, CHIP] = None,
    xla_options: Annotated[list[str] | None, XLA_OPTION] = None,
    against_xla_options: Annotated[list[str] | None, AGAINST_XLA_OPTION] = None,
    arrays: Annotated[bool, ARRAYS] = False,
    graph: Annotated[bool, GRAPH] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    open_page: OpenOption = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    from grader.inputs.explored_function import read_function

    sources = read_sources(file, against)
    with_modules, taken = read_modules(modules or (), sources)
    try:
        found = read_function(function, mesh, "\n".join(inputs or ()), init, with_modules)
    except ValueError as error:
        raise StartRefused(str(error), "`./meshgrade explore --help` shows the notation.") from None
    if taken:
        note(f"Also taken, because they are imported: {', '.join(taken)}")
    chip_name = read_chip(chip, [found.devices])
    sources, options = read_xla_options(sources, xla_options, against_xla_options)
    if open_page:
        subject = {"function": found.model_dump(mode="json")}
        return open_explored(subject, sources, chip_name, options, server, insecure=insecure, as_json=as_json)
    require_compiler(chip_name)
    show_compiled(
        lambda judge, source, context, flags: judge.inspect_function(
            found, source, context, chip=chip_name, options=flags
        ),
        sources,
        options,
        arrays=arrays,
        graph=graph,
        as_json=as_json,
    )
