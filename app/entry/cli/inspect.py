"""`meshgrade inspect`: shows what a submission compiles to, without judging it."""

import math
from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.chip_option import CHIP, read_chip
from app.entry.cli.compiled_programs import ARRAYS, GRAPH, read_sources, show_compiled
from app.entry.cli.installed_compiler import require_compiler
from app.entry.cli.open_exploration import OpenOption, open_explored
from app.entry.cli.remote.connection import InsecureOption, ServerOption
from app.entry.cli.submission_arguments import package_of
from app.entry.cli.xla_options import AGAINST_XLA_OPTION, XLA_OPTION, read_xla_options

HELP = (
    "Show what FILE compiles to, for every mesh of the problem: where each leaf lives, the communication between "
    "devices, memory and FLOPs. With --against, show how it differs from another submission. Exit status: 0 shown, "
    "1 a file has no program, 3 failed, 2 wrong usage."
)


def inspect(
    problem: Annotated[str, typer.Argument(metavar="SLUG_OR_PATH", help="A problem's slug, or a package's folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Show what differs from this submission instead; `reference` is the problem's own."
        ),
    ] = None,
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
    package = package_of(problem)
    if package.manifest.mode != "program":
        raise StartRefused(
            f"{package.slug} is in {package.manifest.mode} mode, so it has no compiled program to inspect",
            "Name a program-mode problem, such as fsdp_shard_map_step.",
        )
    chip_name = read_chip(chip, [math.prod(mesh.values()) for mesh in package.manifest.program.meshes])
    sources = read_sources(file, against, package.files["reference.py"])
    sources, options = read_xla_options(sources, xla_options, against_xla_options)
    if open_page:
        subject = {"problem": package.slug}
        return open_explored(subject, sources, chip_name, options, server, insecure=insecure, as_json=as_json)
    require_compiler(chip_name)
    show_compiled(
        lambda judge, source, context, flags: judge.inspect(package, source, context, chip=chip_name, options=flags),
        sources,
        options,
        arrays=arrays,
        graph=graph,
        as_json=as_json,
    )
