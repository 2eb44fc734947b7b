"""A compiled program as text for a terminal."""

import textwrap
from collections.abc import Sequence

from rich.console import Console

from app.entry.cli.chip_text import print_on_chip
from app.entry.cli.fitted_table import FittedTable, axes_parts
from app.entry.cli.verdict_text import safe
from app.presentation.drawings.graph_text import details_of, groups_of, name_of
from grader.core.text import in_bytes
from grader.explorer.description import explored
from grader.explorer.exploration import ExploredProgram
from grader.explorer.graph import ExploredGraph
from grader.explorer.remarks import remarks, whole_gathers
from grader.program.differences import ProgramDifference
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured, mesh_name
from grader.program.placed_arrays import PlacedArrays

# Of a remark's lines, where a table is too wide for the terminal.
_REMARK_WIDTH = 28
# How many temporaries are listed, without those that are smaller than the largest one by this factor.
_LARGEST = 3
_SMALL_SHARE = 100
_TIMES = "\N{MULTIPLICATION SIGN}"


def print_program(measured: Measured, *, arrays: bool = False, graph: bool = False) -> None:
    console = Console(highlight=False)
    facts = measured.facts
    console.print(f"[bold]Mesh {safe(mesh_name(measured.mesh))}[/]  {facts.devices} devices")
    if measured.is_only_on_chip and measured.on_chip is not None:
        where = measured.on_chip.topology
        console.print(f"XLA does not compile this program for CPUs. All numbers are those of the program for {where}.")
    [program] = explored([measured]).programs
    for remark in program.remarks:
        console.print(f"Note: {safe(remark)}")
    _leaves(measured).print_to(console)
    _print_collectives(console, program)
    for _, text in whole_gathers(program.collectives):
        console.print(f"[yellow]{safe(text)}[/]", soft_wrap=True)
    if facts.written:
        dtypes = sorted({f"{each.kind} {'/'.join(each.dtypes)}" for each in facts.written})
        console.print(f"Collectives in the exported program: {safe(', '.join(dtypes))}")
    memory = facts.memory
    console.print(
        f"On each device: {in_bytes(memory.argument_bytes)} of arguments, {in_bytes(memory.output_bytes)} of outputs, "
        f"{in_bytes(memory.temporary_bytes)} of temporaries; {in_bytes(memory.alias_bytes)} overwritten in place "
        f"({len(facts.census.aliases)} of {len(facts.outputs)} outputs)."
    )
    if program.peak is not None and program.peak.buffers:
        most = program.peak.buffers[0].bytes
        largest = [each for each in program.peak.buffers[:_LARGEST] if each.bytes * _SMALL_SHARE >= most]
        listed = ", ".join(
            f"{in_bytes(each.bytes)} of {each.shape or each.operation}{f' (line {each.line})' * bool(each.line)}"
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
        _print_graph(console, program.graph)
    if arrays and measured.arrays is not None:
        _print_arrays(console, measured.arrays)
    if program.on_chip is not None:
        print_on_chip(console, program.on_chip)


def _print_arrays(console: Console, found: PlacedArrays) -> None:
    if not found.arrays:
        console.print("The program computes no array.\n")
        return
    table = FittedTable("line", "operation", "array", "spec", "on a device", right=("line", "on a device"))
    for each in found.arrays:
        sizes = ", ".join(map(str, each.shape))
        table.add_row(
            str(each.line or ""),
            (each.operation, *(f"{_TIMES} {each.number}",) * (each.number > 1)),
            f"{each.dtype}[{sizes}]",
            (*each.spec.split(), *(f"in shard_map over {', '.join(each.inside)}",) * bool(each.inside)),
            in_bytes(each.bytes),
        )
    table.print_to(console)
    if found.left_out:
        console.print(f"And {found.left_out:,} more.")
    console.print()


def print_differences(mesh: dict[str, int], found: Sequence[ProgramDifference]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Mesh {safe(mesh_name(mesh))}[/]")
    for each in found:
        console.print(f"  {safe(each.text)}")
    if not found:
        console.print("  No difference: placement, communication, memory and work are equal.")
    console.print()


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
    return in_bytes(on_a_device), in_bytes(leaf.whole_bytes)


def _print_collectives(console: Console, program: ExploredProgram) -> None:
    if not program.collectives:
        console.print("There is no communication between devices.")
        return
    numbers = ("devices", "executed", "logical bytes", "sent by a device")
    table = FittedTable("collective", "over", *numbers, "where", right=numbers)
    for each, remark in zip(program.collectives, remarks(program.collectives), strict=True):
        times = "?" if each.executions is None else f"{each.executions}{_TIMES}"
        table.add_row(
            each.collective,
            axes_parts(each.axes),
            str(each.group_size),
            ("at most", times) if each.conditional else times,
            in_bytes(each.bytes),
            in_bytes(each.ring_bytes),
            (
                *("in a branch",) * each.conditional,
                *("in a loop",) * each.in_loop,
                *(f"line {line}" for line in (each.line,) if line),
                *textwrap.wrap(remark, _REMARK_WIDTH),
            ),
        )
    table.print_to(console)
    if program.unlisted_collectives:
        console.print(f"And {program.unlisted_collectives} more.")


def _print_graph(console: Console, graph: ExploredGraph | None) -> None:
    if graph is None or not graph.nodes:
        console.print("There is no graph of this program.\n")
        return
    taken: dict[int, list[str]] = {}
    for edge in graph.edges:
        when = " (the round before)" if edge.leads_back else ""
        taken.setdefault(edge.target, []).append(f"{edge.source + 1}: {in_bytes(edge.bytes)}{when}")
    depths: list[int] = []
    table = FittedTable("no.", "part", "", "what", "takes from", "where", right=("no.",))
    for number, node in enumerate(graph.nodes):
        depths.append(0 if node.inside is None else depths[node.inside] + 1)
        # One with an ordinary space would be cut off where a cell is wrapped.
        indent = "\N{NO-BREAK SPACE}" * 2 * depths[-1]
        *others, last = taken.get(number) or [""]
        table.add_row(
            str(number + 1),
            f"{indent}{name_of(node)}",
            node.kind,
            tuple(filter(None, (details_of(node), groups_of(node)))),
            (*(f"{each}," for each in others), last),
            f"line {node.line}" if node.line else "",
        )
    table.print_to(console)
    if graph.is_folded:
        console.print("Layers that the program repeats are shown once.")
    if graph.unlisted_edges:
        console.print(f"{graph.unlisted_edges:,} small arrays between parts are not shown.")
    console.print()
