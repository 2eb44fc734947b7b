"""A compiled program as text for a terminal."""

from collections.abc import Sequence

from rich.console import Console

from app.core.web.units import bytes_text
from app.entry.cli.chip_text import print_on_chip
from app.entry.cli.fitted_table import FittedTable, print_table
from app.entry.cli.verdict_text import safe
from app.presentation.graph_view import graph_table
from app.presentation.program_tables import arrays_table, collectives_table
from app.presentation.totals import headline
from grader.explorer.description import explored
from grader.explorer.exploration import ExploredProgram
from grader.explorer.remarks import whole_gathers
from grader.program.compared_amounts import ProgramDifference
from grader.program.differences import differences
from grader.program.differences_between_chips import differences_between_chips
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured, mesh_name

# How many temporaries are listed, without those that are smaller than the largest one by this factor.
_LARGEST = 3
_SMALL_SHARE = 100
_TIMES = "\N{MULTIPLICATION SIGN}"


def print_program(measured: Measured, *, arrays: bool = False, graph: bool = False) -> None:
    console = Console(highlight=False)
    facts = measured.facts
    [program] = explored([measured]).programs
    console.print(f"[bold]Mesh {safe(mesh_name(measured.mesh))}[/]  {facts.devices} devices")
    console.print(headline(program))
    if measured.is_only_on_chip and measured.on_chip is not None:
        where = measured.on_chip.topology
        console.print(f"XLA does not compile this program for CPUs. All numbers are those of the program for {where}.")
    for remark in program.remarks:
        console.print(f"Note: {safe(remark)}")
    _leaves(measured).print_to(console)
    collectives = collectives_table(program)
    if collectives is None:
        console.print("There is no communication between devices.")
    else:
        print_table(console, collectives)
    for _, text in whole_gathers(program.collectives):
        console.print(f"[yellow]{safe(text)}[/]", soft_wrap=True)
    if facts.written:
        dtypes = sorted({f"{each.kind} {'/'.join(each.dtypes)}" for each in facts.written})
        console.print(f"Collectives in the exported program: {safe(', '.join(dtypes))}")
    amounts = {row.name: row.mine for row in program.memory.rows if row.mine or row.name != "constants"}
    overwritten = amounts.pop("overwritten in place", 0)
    parts = ", ".join(f"{bytes_text(amount)} of {name}" for name, amount in amounts.items())
    console.print(
        f"On each device: {parts}; {bytes_text(overwritten)} overwritten in place "
        f"({len(facts.census.aliases)} of {len(facts.outputs)} outputs)."
    )
    if program.peak is not None and program.peak.buffers:
        most = program.peak.buffers[0].bytes
        largest = [each for each in program.peak.buffers[:_LARGEST] if each.bytes * _SMALL_SHARE >= most]
        listed = ", ".join(
            f"{bytes_text(each.bytes)} of {each.shape or each.operation}{f' (line {each.line})' * bool(each.line)}"
            for each in largest
        )
        console.print(f"Largest temporaries at their peak: {safe(listed)}.")
    flops = facts.census.dot_flops
    work = "an unknown number of" if flops is None else f"{flops:,}"
    if any(each.conditional for each in facts.census.dots):
        work = f"at most {work}"
    products = len(facts.census.dots)
    console.print(
        f"Matrix products on each device: {work} FLOPs in {products} {'product' if products == 1 else 'products'}.\n"
    )
    if graph:
        _print_graph(console, program)
    if arrays and measured.arrays is not None:
        found = arrays_table(program)
        if found is None:
            console.print("The program computes no array.")
        else:
            print_table(console, found)
        console.print()
    if program.on_chip is not None:
        print_on_chip(console, program.on_chip)


def print_differences(mine: Measured, other: Measured) -> None:
    """Print how two programs for a mesh differ on host devices, and on chips if both were compiled for chips, too."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Mesh {safe(mesh_name(mine.mesh))}[/]")
    if mine.is_only_on_chip or other.is_only_on_chip:
        console.print("  XLA does not compile both programs for CPUs.")
        _print_sentences(console, differences(mine, other), "placement is")
    else:
        _print_sentences(console, differences(mine, other), "placement, communication, memory and work are")
    on_chip = mine.on_chip
    if on_chip is not None and other.on_chip is not None:
        console.print(f"[bold]On {safe(on_chip.topology)}[/]  compiled by {safe(on_chip.compiler or 'nothing')}")
        for name, options in (("This program", on_chip.options), ("The other version", other.on_chip.options)):
            if options:
                listed = ", ".join(f"{each.name}={each.value}" for each in options)
                console.print(f"  {name} has the XLA options {safe(listed)}.")
        if on_chip.program is None and other.on_chip.program is None:
            console.print(f"  {safe(on_chip.fault)}")
        else:
            found = differences_between_chips(mine, other)
            _print_sentences(console, found, "communication, its order, memory and work are")
    console.print()


def _print_sentences(console: Console, found: Sequence[ProgramDifference], compared: str) -> None:
    for each in found:
        console.print(f"  {safe(each.text)}")
    if not found:
        console.print(f"  No difference: {compared} equal.")


def _leaves(measured: Measured) -> FittedTable:
    numbers = ("on a device", "whole")
    table = FittedTable("", "leaf", "shape", "dtype", "spec", *numbers, right=numbers)
    out = dict(measured.out)
    for path, leaf in (*measured.state_in, *measured.given):
        # Most of a state comes out as it went in, so one row shows both.
        same = out.get(path) == leaf
        _add(table, "in, out" if same else "in", path, leaf)
        if same:
            del out[path]
    for path, leaf in out.items():
        _add(table, "out", path, leaf)
    return table


def _add(table: FittedTable, when: str, path: str, leaf: ProgramLeaf) -> None:
    table.add_row(when.split(), path, _shape(leaf), leaf.dtype, leaf.spec.split(), *_bytes(leaf))


def _shape(leaf: ProgramLeaf) -> str:
    return _TIMES.join(map(str, leaf.shape)) or "scalar"


def _bytes(leaf: ProgramLeaf) -> tuple[str, str]:
    on_a_device = max((leaf.held_bytes(device) for device in range(len(leaf.slices))), default=0)
    return bytes_text(on_a_device), bytes_text(leaf.whole_bytes)


def _print_graph(console: Console, program: ExploredProgram) -> None:
    graph = program.graph
    table = graph_table(graph, program.collectives)
    if graph is None or table is None:
        console.print("There is no graph of this program.\n")
        return
    print_table(console, table)
    if graph.is_folded:
        console.print("Layers that the program repeats are shown once.")
    if graph.unlisted_edges:
        console.print(f"{graph.unlisted_edges:,} small arrays between parts are not shown.")
    console.print()
