"""Read a compiled program: its collectives, matrix products, donated buffers and largest arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.program.arrays import HeldArray, SummedProduct, largest_arrays, summed_products
from grader.program.collectives import KINDS, Collective, World, is_collective, read_collective
from grader.program.dots import Dot, is_dot, read_dot
from grader.program.flow import Flow, follow
from grader.program.hlo import Instruction, Module, Value, integers, read_hlo
from grader.program.loop_overlap import Rounds
from grader.program.nearby_lines import NearbyLines
from grader.program.product_lines import lines_of_products
from grader.program.resharding import Reshards
from grader.program.shapes import DTYPES, leaves
from grader.program.stablehlo import ExportedProgram
from grader.program.strict_json import read, write
from grader.program.tokens import ProgramUnreadable, integer
from grader.program.walk import sites
from grader.program.wire_dtypes import with_written_dtypes

__all__ = ["Census", "Collective", "Dot", "ProgramUnreadable", "census_of", "from_json", "take_census", "to_json"]


@dataclass(frozen=True, slots=True)
class Census:
    """The work of one call of a compiled program on each device.

    Attributes:
      partitions: how many devices share the work; 1 for a program of one device.
      collectives, dots: in program order, once for each place they are called from.
      dot_flops: the FLOPs of all dots, times their executions. None if one of them runs an unknown number of times.
      aliases: (output, parameter) pairs, where the output is written into the parameter's buffer.
      argument_bytes: one entry per parameter.
      output_bytes: one entry per output.
      constant_bytes: the bytes of all constant arrays. Every device holds them for as long as the program.
      largest_arrays: the largest arrays that instructions store, the largest first.
      summed_products: matrix products that are not among the dots, because they are written as multiplication and sum.
    """

    partitions: int
    collectives: tuple[Collective, ...]
    dots: tuple[Dot, ...]
    dot_flops: int | None
    aliases: tuple[tuple[int, int], ...]
    argument_bytes: tuple[int, ...]
    output_bytes: tuple[int, ...]
    constant_bytes: int
    largest_arrays: tuple[HeldArray, ...]
    summed_products: tuple[SummedProduct, ...]

    @property
    def alias_bytes(self) -> int:
        """Bytes of the outputs that are written into a parameter's buffer."""
        return sum(self.output_bytes[output] for output, _ in self.aliases)


def take_census(
    hlo_text: str, devices: int, mesh: Mapping[str, int] | None = None, source: str = "submission.py"
) -> Census:
    """Read a compiled program.

    Args:
      hlo_text: optimized HLO, after partitioning, from `compiled.as_text()`.
      devices: the number of devices that it was compiled for.
      mesh: axis name -> size. With it, the groups of a collective_permute are those along the axes of its pairs;
        without it, the devices that its pairs connect.
      source: the name of the file that `source_line` refers to.
    Raises:
      ProgramUnreadable: the text is not a module, or it is inconsistent.
    """
    return census_of(read_hlo(hlo_text), devices, mesh, source)


def census_of(
    module: Module,
    devices: int,
    mesh: Mapping[str, int] | None = None,
    source: str = "submission.py",
    *,
    exported: ExportedProgram | None = None,
) -> Census:
    """Like `take_census`, for a module that has already been read.

    Args:
      exported: the program before it was compiled. It tells the lines of products that lost theirs, and which sharding
        constraints the partitioner's collectives are about.
    """
    if mesh is not None and _product(mesh) != devices:
        raise ValueError(f"the mesh {dict(mesh)} does not have {devices} devices")
    world = World(devices, _partitions(module, devices), mesh)
    collectives: list[Collective] = []
    dots: list[Dot] = []
    found = sites(module, _is_counted)
    # Read these after the walk, which guarantees that no computation calls itself.
    flow = follow(module, is_collective) if any(is_collective(site.instruction) for site in found) else Flow({}, {}, {})
    rounds = Rounds(module)
    lines = NearbyLines(module, source)
    of_products = lines_of_products(module, lines, exported.product_lines if exported else {})
    reshards = Reshards(lines, exported, devices) if exported else None
    for site in found:
        if is_collective(site.instruction):
            turns, products = rounds.takes_turns(site), rounds.has_product(site)
            read = read_collective(module, site, world, flow, lines, takes_turns=turns, beside_products=products)
            if exported and reshards:
                read = with_written_dtypes(reshards.explain(site, read), exported)
            collectives.append(read)
        else:
            dots.append(read_dot(site, of_products[site.computation.name, site.instruction.name], lines.graph))
    arguments, outputs = _argument_bytes(module), _output_bytes(module)
    aliases = read_aliases(module.attributes.get("input_output_alias", ()), len(outputs), len(arguments))
    return Census(
        partitions=world.partitions,
        collectives=tuple(collectives),
        dots=tuple(dots),
        dot_flops=_total(tuple(dots)),
        aliases=aliases,
        argument_bytes=arguments,
        output_bytes=outputs,
        constant_bytes=_constant_bytes(module),
        largest_arrays=largest_arrays(module, source),
        summed_products=summed_products(module, source),
    )


def to_json(census: Census) -> dict[str, object]:
    """Convert the census to values that `json.dumps` takes."""
    return write(census)


def from_json(value: object) -> Census:
    """Read the output of `to_json` without trusting it.

    Raises:
      ProgramUnreadable: a field is missing, unknown, of another type, negative, or contradicts another one.
    """
    census = read(Census, value, "census")
    for collective in census.collectives:
        members = [device for group in collective.groups for device in group]
        if collective.kind not in KINDS:
            raise ProgramUnreadable(f"census: unknown collective {collective.kind!r:.60}")
        if collective.group_size != max((len(group) for group in collective.groups), default=1):
            raise ProgramUnreadable("census: group_size is not the size of the largest group")
        if len(set(members)) != len(members):
            raise ProgramUnreadable("census: a device is in two groups")
        if len(collective.dtypes) != len(collective.shapes):
            raise ProgramUnreadable("census: not every result has a dtype and a shape")
        if len(collective.parts) != len(collective.operand_shapes):
            raise ProgramUnreadable("census: not every operand has an origin")
        for part in collective.parts:
            if part.written_dtype not in {None, *DTYPES} or part.written_bytes > part.logical_bytes:
                raise ProgramUnreadable("census: an array was not widened from a dtype")
    if census.dot_flops != _total(census.dots):
        raise ProgramUnreadable("census: dot_flops is not the sum over the dots")
    _check_aliases(census.aliases, len(census.output_bytes), len(census.argument_bytes))
    return census


def read_aliases(value: Value, outputs: int, parameters: int) -> tuple[tuple[int, int], ...]:
    """Read `{ {0}: (0, {}, may-alias), {1}: (2, {}) }`, or `{}: (…)` if the program has one output.

    Returns:
      (output, parameter) pairs, each one whole array.
    """
    inner = value[1:-1]
    aliases: list[tuple[int, int]] = []
    at = 0
    while at < len(inner):
        try:
            close = inner.index("}", at)
            end = inner.index(")", close)
        except ValueError:
            raise ProgramUnreadable("input_output_alias: an entry is not closed") from None
        output, entry = inner[at : close + 1], inner[close + 1 : end]
        index = integers(output)
        parameter = integer(entry[2]) if len(entry) > 2 else None
        if output[0] != "{" or len(index) > 1 or entry[:2] != (":", "(") or parameter is None:
            raise ProgramUnreadable("input_output_alias: an entry is not {output}: (parameter, {}, kind)")
        if entry[3:6] not in {(",", "{", "}"), ()}:
            raise ProgramUnreadable("input_output_alias: a parameter is a tuple")
        if end + 1 < len(inner) and inner[end + 1] != ",":
            raise ProgramUnreadable("input_output_alias: entries are separated by commas")
        aliases.append((index[0] if index else 0, parameter))
        at = end + 2
    _check_aliases(tuple(aliases), outputs, parameters)
    return tuple(aliases)


def _check_aliases(aliases: tuple[tuple[int, int], ...], outputs: int, parameters: int) -> None:
    for side, size in ((0, outputs), (1, parameters)):
        numbers = [pair[side] for pair in aliases]
        if len(set(numbers)) != len(numbers) or any(not 0 <= number < size for number in numbers):
            raise ProgramUnreadable("input_output_alias: an output or a parameter is named twice, or does not exist")


def _is_counted(instruction: Instruction) -> bool:
    return is_collective(instruction) or is_dot(instruction)


def _partitions(module: Module, devices: int) -> int:
    counts = [module.attributes.get(name, ("1",)) for name in ("num_partitions", "replica_count")]
    partitions, replicas = (integer(count[0]) for count in counts)
    if not partitions or not replicas or partitions * replicas not in {1, devices}:
        raise ProgramUnreadable(f"not for {devices} devices, but for {partitions} partitions x {replicas} replicas")
    return partitions


def _argument_bytes(module: Module) -> tuple[int, ...]:
    sizes: dict[int, int] = {}
    for instruction in module.entry.instructions.values():
        if instruction.opcode == "parameter":
            number = integer("".join(instruction.literal))
            if number is None or number in sizes:
                raise ProgramUnreadable("parameters of the entry computation are not numbered 0, 1, …")
            sizes[number] = sum(shape.bytes for shape in leaves(instruction.shape))
    if sorted(sizes) != list(range(len(sizes))):
        raise ProgramUnreadable("parameters of the entry computation are not numbered 0, 1, …")
    return tuple(sizes[number] for number in range(len(sizes)))


def _constant_bytes(module: Module) -> int:
    """The bytes of all constants except single numbers, which are part of the code."""
    return sum(
        shape.bytes
        for computation in module.computations.values()
        for instruction in computation.instructions.values()
        if instruction.opcode == "constant"
        for shape in leaves(instruction.shape)
        if shape.dims
    )


def _output_bytes(module: Module) -> tuple[int, ...]:
    root = module.entry.instructions[module.entry.root].shape
    return tuple(sum(shape.bytes for shape in leaves(tree)) for tree in (root if isinstance(root, tuple) else (root,)))


def _total(dots: tuple[Dot, ...]) -> int | None:
    total = 0
    for dot in dots:
        if dot.executions is None:
            return None
        total += dot.flops * dot.executions
    return total


def _product(mesh: Mapping[str, int]) -> int:
    product = 1
    for size in mesh.values():
        product *= size
    return product
