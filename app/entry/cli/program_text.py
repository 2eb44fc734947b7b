"""A compiled program as text for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from app.entry.cli.verdict_text import safe
from grader.core.chips import CHIPS
from grader.core.text import in_bytes
from grader.program.collective_uses import collectives_of
from grader.program.differences import ProgramDifference
from grader.program.differences_on_chip import differences_on_chip
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured, mesh_name
from grader.program.on_chip import OnChip

_TIMES = "\N{MULTIPLICATION SIGN}"


def print_program(measured: Measured) -> None:
    console = Console(highlight=False)
    facts = measured.facts
    console.print(f"[bold]Mesh {mesh_name(measured.mesh)}[/]  {facts.devices} devices")
    if measured.is_only_on_chip and measured.on_chip is not None:
        where = measured.on_chip.topology
        console.print(f"XLA does not compile this program for CPUs. All numbers are those of the program for {where}.")
    console.print(_leaves(measured))
    console.print(_collectives(measured))
    if facts.written:
        dtypes = sorted({f"{each.kind} {'/'.join(each.dtypes)}" for each in facts.written})
        console.print(f"Collectives in the exported program: {safe(', '.join(dtypes))}")
    memory = facts.memory
    console.print(
        f"On each device: {in_bytes(memory.argument_bytes)} of arguments, {in_bytes(memory.output_bytes)} of outputs, "
        f"{in_bytes(memory.temporary_bytes)} of temporaries; {in_bytes(memory.alias_bytes)} overwritten in place "
        f"({len(facts.census.aliases)} of {len(facts.outputs)} outputs)."
    )
    flops = facts.census.dot_flops
    work = "an unknown number of" if flops is None else f"{flops:,}"
    console.print(f"Matrix products on each device: {work} FLOPs in {len(facts.census.dots)} products.\n")
    if measured.on_chip is not None:
        _print_on_chip(console, measured, measured.on_chip)


def _print_on_chip(console: Console, measured: Measured, found: OnChip) -> None:
    console.print(f"[bold]On {found.topology}[/]  compiled by {found.compiler or 'nothing'}")
    program = found.program
    if program is None:
        console.print(f"{safe(found.fault)}\n", soft_wrap=True)
        return
    memory, chip = program.memory, CHIPS[found.topology.partition(":")[0]]
    console.print(
        f"On each chip: at most {in_bytes(program.peak_bytes)} of {in_bytes(chip.hbm_bytes)} in use; "
        f"{in_bytes(memory.argument_bytes)} of arguments, {in_bytes(memory.temporary_bytes)} of temporaries."
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("collective", "over", "dtype"):
        table.add_column(name)
    for name in ("executed", "logical bytes", "crosses", "hidden by"):
        table.add_column(name, justify="right")
    table.add_column("where")
    for computation in program.schedule.computations:
        times = "?" if computation.executions is None else f"{computation.executions}{_TIMES}"
        for each in computation.collectives:
            cycles = sum(step.cycles or 0 for step in computation.between(each))
            kernels = computation.kernels_between(each)
            hidden = f"{cycles:,} cycles" if cycles else f"{kernels} {'kernel' if kernels == 1 else 'kernels'}"
            table.add_row(
                each.kind if len(each.dtypes) == 1 else f"{each.kind} of {len(each.dtypes)} arrays",
                ", ".join(each.axes) if each.axes else "no axis of the mesh",
                "/".join(sorted(set(each.dtypes))),
                times,
                in_bytes(each.logical_bytes),
                each.link,
                hidden if cycles or kernels else "nothing: it waits",
                f"line {each.line}" if each.line else "",
            )
    console.print(table if table.row_count else "There is no communication between chips.")
    for text in differences_on_chip(measured.facts.census.collectives, measured.mesh, program.schedule, chip):
        console.print(f"  {safe(text)}", soft_wrap=True)
    console.print()


def print_differences(mesh: dict[str, int], found: Sequence[ProgramDifference]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]Mesh {mesh_name(mesh)}[/]")
    for each in found:
        console.print(f"  {safe(each.text)}")
    if not found:
        console.print("  No difference: placement, communication, memory and work are equal.")
    console.print()


def _leaves(measured: Measured) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "leaf", "shape", "dtype", "spec"):
        table.add_column(name)
    table.add_column("on a device", justify="right")
    table.add_column("whole", justify="right")
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


def _add(table: Table, when: str, path: str, leaf: ProgramLeaf) -> None:
    table.add_row(when, safe(path), _shape(leaf), leaf.dtype, safe(leaf.spec), *_bytes(leaf))


def _shape(leaf: ProgramLeaf) -> str:
    return _TIMES.join(map(str, leaf.shape)) or "scalar"


def _bytes(leaf: ProgramLeaf) -> tuple[str, str]:
    on_a_device = max((leaf.held_bytes(device) for device in range(len(leaf.slices))), default=0)
    return in_bytes(on_a_device), in_bytes(leaf.whole_bytes)


def _collectives(measured: Measured) -> Table | str:
    uses = collectives_of(measured)
    if not uses:
        return "There is no communication between devices."
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("collective")
    table.add_column("over")
    for name in ("devices", "executed", "logical bytes", "sent by a device"):
        table.add_column(name, justify="right")
    table.add_column("where")
    for each in uses:
        times = "?" if each.executions is None else f"{each.executions}{_TIMES}"
        place = "in a loop" if each.in_loop else ""
        line = f"line {each.line}" if each.line else ""
        table.add_row(
            each.kind,
            ", ".join(each.axes) if each.axes else "no axis of the mesh",
            str(each.group_size),
            times,
            in_bytes(each.logical_bytes),
            in_bytes(each.ring_bytes),
            " ".join(filter(None, (place, line))),
        )
    return table
