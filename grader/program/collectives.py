"""Read the communication between devices in one call of a program."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.program.axes import axes_of_pairs, groups_on
from grader.program.flow import Flow, Origin
from grader.program.groups import Groups, Pairs, connected, read_groups, read_pairs
from grader.program.hlo import Computation, Instruction, Module, integers
from grader.program.nearby_lines import NearbyLines
from grader.program.shapes import Shape, ShapeTree, leaves
from grader.program.tokens import ProgramUnreadable, shown
from grader.program.walk import Site

KINDS = frozenset(
    "all-gather all-reduce reduce-scatter all-to-all collective-permute collective-broadcast ragged-all-to-all".split()
)
# A -start of these kinds has the shape of the result. Others have (operands, results, …).
_START_IS_RESULT = {"all-reduce"}


@dataclass(frozen=True, slots=True)
class Part:
    """One array of a collective. XLA merges several arrays into one collective.

    Attributes:
      logical_bytes, ring_bytes: its share of the collective's.
      depends, carries: indices of the program's arguments, as in `flow.Origin`.
      outputs: indices of the program's outputs in which its elements arrive, as in `flow.Flow`.
      source_line: the line that sent this array before XLA merged the collectives.
      written_dtype: its narrower dtype in the exported program, if only the CPU compiler widened it.
      written_bytes: the logical bytes in that dtype; `logical_bytes` if it was not widened.
    """

    logical_bytes: int
    ring_bytes: int
    depends: tuple[int, ...]
    carries: tuple[int, ...]
    outputs: tuple[int, ...]
    source_line: int | None
    written_dtype: str | None
    written_bytes: int


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective, at one of the places from which it is called.

    Attributes:
      kind: the HLO opcode, without -start.
      logical_bytes: the bytes of the whole tensor in one execution: the gathered result of an all-gather, the operand
        of a reduce-scatter, the operands of an all-reduce; for an all-to-all and a collective-permute, one device's
        operand times `group_size`.
      ring_bytes: the bytes that one device of the largest group sends around a ring in one execution; for a permute,
        the bytes of the operand. 0 if every device is alone.
      groups: the devices that communicate with one another, by number.
      group_size: the size of the largest group.
      pairs: source and target of a collective-permute, else ().
      dtypes, shapes: one entry per array of the result.
      operand_shapes: the shapes of the operands on one device.
      parts: where the data of each operand comes from.
      loops: names of the `while` instructions around it, outermost first.
      executions: how often it runs in one call of the program; None if the number is unknown.
      conditional: whether it is in a branch, so that `executions` is an upper bound.
      source_line: the innermost line of the submission that led to it; if XLA merged those of several lines, the line
        that most of its bytes are from.
      constraint_line: the line of the sharding constraint on the array, if the partitioner inserted the collective.
      consumer_line: the line that uses the array that `constraint_line` is about.
      kept_of: the number of equal parts of an array, if the partitioner lets a device gather all and keep one.
      takes_turns: whether, in a loop, a matrix product of the same round waits for it, or it waits for one.
      beside_products: whether the innermost loop around it also computes matrix products.
    """

    kind: str
    name: str
    logical_bytes: int
    ring_bytes: int
    groups: Groups
    group_size: int
    pairs: Pairs
    channel: int | None
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    operand_shapes: tuple[tuple[int, ...], ...]
    parts: tuple[Part, ...]
    loops: tuple[str, ...]
    executions: int | None
    conditional: bool
    asynchronous: bool
    source_line: int | None
    constraint_line: int | None
    consumer_line: int | None
    kept_of: int | None
    takes_turns: bool
    beside_products: bool


@dataclass(frozen=True, slots=True)
class World:
    """The devices that run a program: `devices` in total, of which `partitions` share the work of each replica."""

    devices: int
    partitions: int
    mesh: Mapping[str, int] | None = None

    @property
    def replicas(self) -> int:
        return self.devices // self.partitions


def is_collective(instruction: Instruction) -> bool:
    """Whether an instruction starts a collective; `-done` and `-update` only wait for one."""
    return kind_of(instruction) is not None


def kind_of(instruction: Instruction) -> str | None:
    kind = instruction.opcode.removesuffix("-start")
    return kind if kind in KINDS else None


def read_collective(
    module: Module,
    site: Site,
    world: World,
    flow: Flow,
    lines: NearbyLines,
    *,
    takes_turns: bool = False,
    beside_products: bool = False,
) -> Collective:
    """Describe the collective at a site.

    Args:
      flow: the result of `follow` for all collectives.
      lines: those of the file that `source_line` refers to.
      takes_turns, beside_products: the results of `Rounds.takes_turns` and `Rounds.has_product`.
    Raises:
      ProgramUnreadable: its groups or shapes are invalid.
    """
    instruction = site.instruction
    kind = kind_of(instruction)
    if kind is None:
        raise ProgramUnreadable(f"{shown(instruction.name)} is not a collective")
    channels = integers(instruction.attributes.get("channel_id", ()))
    pairs = _pairs(instruction, world)
    groups = _groups(instruction, world, pairs, bool(channels))
    group_size = max((len(group) for group in groups), default=1)
    operands = _operands(site.computation, instruction)
    operand_bytes = sum(shape.bytes for shape in operands)
    results = list(leaves(_result(instruction, kind)))
    parts = _parts(module, site, flow, lines, kind, operands, group_size, world.devices)
    return Collective(
        kind=kind,
        name=instruction.name,
        logical_bytes=_logical_bytes(kind, operand_bytes, group_size),
        ring_bytes=_ring_bytes(kind, operand_bytes, group_size),
        groups=groups,
        group_size=group_size,
        pairs=pairs,
        channel=channels[0] if channels else None,
        dtypes=tuple(shape.dtype for shape in results),
        shapes=tuple(shape.dims for shape in results),
        operand_shapes=tuple(shape.dims for shape in operands),
        parts=parts,
        loops=site.loops,
        executions=site.executions,
        conditional=site.conditional,
        asynchronous=site.asynchronous or instruction.opcode.endswith("-start"),
        source_line=_line_of_most_bytes(parts),
        constraint_line=None,
        consumer_line=None,
        kept_of=None,
        takes_turns=takes_turns,
        beside_products=beside_products,
    )


def _parts(
    module: Module,
    site: Site,
    flow: Flow,
    lines: NearbyLines,
    kind: str,
    operands: Sequence[Shape],
    group_size: int,
    devices: int,
) -> tuple[Part, ...]:
    found = []
    before = 0
    places = lines.of_operands(site.computation, site.instruction)
    for shape, (origin, arrived), line in zip(operands, _followed(module, site, flow, devices), places, strict=False):
        sizes = before, before + shape.bytes
        # Each share is what this operand adds to those before it. Rounding up each one alone would make the sum too
        # large.
        already, now = (_ring_bytes(kind, size, group_size) for size in sizes)
        found.append(
            Part(
                logical_bytes=_logical_bytes(kind, shape.bytes, group_size),
                ring_bytes=now - already,
                depends=_numbers(origin.depends),
                carries=_numbers(origin.carries),
                outputs=_numbers(arrived),
                source_line=line,
                written_dtype=None,
                written_bytes=_logical_bytes(kind, shape.bytes, group_size),
            )
        )
        before = sizes[1]
    return tuple(found)


def _line_of_most_bytes(parts: Sequence[Part]) -> int | None:
    sizes: Counter[int] = Counter()
    for part in parts:
        if part.source_line is not None:
            sizes[part.source_line] += part.logical_bytes
    return max(sizes, key=lambda line: sizes[line], default=None)


def _followed(module: Module, site: Site, flow: Flow, devices: int) -> list[tuple[Origin, int]]:
    """The origin of each operand, and the outputs in which it arrives.

    An array arrives if at least one device's share of its elements arrives, because a device may keep one slice of the
    result and drop the others. So a single element that is added to something is not an array that arrives.
    """
    place = site.computation.name, site.instruction.name
    if place in flow.origins:
        outputs = (
            arrived if arriving * devices >= 1 else 0
            for arrived, arriving in zip(flow.outputs[place], flow.arriving[place], strict=True)
        )
        return list(zip(flow.origins[place], outputs, strict=True))
    # For an instruction that the flow does not reach, assume that the data may come from any argument.
    number = sum(each.opcode == "parameter" for each in module.entry.instructions.values())
    everything = (1 << number) - 1
    return [(Origin(everything, everything), 0)] * len(site.instruction.operands)


def _numbers(arguments: int) -> tuple[int, ...]:
    return tuple(number for number in range(arguments.bit_length()) if arguments >> number & 1)


def _logical_bytes(kind: str, operand_bytes: int, group_size: int) -> int:
    if kind in {"all-reduce", "reduce-scatter", "collective-broadcast"}:
        return operand_bytes
    return operand_bytes * group_size


def _ring_bytes(kind: str, operand_bytes: int, group_size: int) -> int:
    """The fewest bytes that a device must send, rounded up to whole bytes.

    Source: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md (bus bandwidth: the same factors) and
    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005, sections 4.1-4.5.
    """
    n = group_size
    if n <= 1:
        return 0
    if kind == "all-gather":
        return (n - 1) * operand_bytes
    if kind == "all-reduce":
        return -(-2 * (n - 1) * operand_bytes // n)
    if kind in {"collective-permute", "collective-broadcast"}:
        return operand_bytes
    return -(-(n - 1) * operand_bytes // n)


def _operands(computation: Computation, instruction: Instruction) -> list[Shape]:
    arrays = [computation.operand(instruction, index).shape for index in range(len(instruction.operands))]
    # The other operands of a ragged-all-to-all are its output buffer and offsets.
    return list(leaves(tuple(arrays[:1] if instruction.opcode.startswith("ragged-") else arrays)))


def _result(instruction: Instruction, kind: str) -> ShapeTree:
    shape = instruction.shape
    if not instruction.opcode.endswith("-start") or kind in _START_IS_RESULT:
        return shape
    if isinstance(shape, Shape) or len(shape) < 2:
        raise ProgramUnreadable(f"{shown(instruction.name)} has no shape of the form (operand, result)")
    return shape[1]


def _pairs(instruction: Instruction, world: World) -> Pairs:
    value = instruction.attributes.get("source_target_pairs")
    return () if value is None else read_pairs(value, world.devices)


def _groups(instruction: Instruction, world: World, pairs: Pairs, has_channel: bool) -> Groups:
    if "source_target_pairs" in instruction.attributes:
        return _groups_of_pairs(tuple(pair for pair in pairs if pair[0] != pair[1]), world)
    value = instruction.attributes.get("replica_groups", ("{", "}"))
    groups = read_groups(value, world.devices)
    flattened = instruction.attributes.get("use_global_device_ids") == ("true",)
    if world.partitions == world.devices > 1 and not flattened and not any(integers(value)):
        # The ids are those of replicas, of which there is one. With a channel, it stands for all partitions; without
        # one, each partition is alone: https://openxla.org/xla/operation_semantics#allreduce
        everyone = range(world.devices)
        return (tuple(everyone),) if has_channel else tuple((device,) for device in everyone)
    return groups


def _groups_of_pairs(pairs: Pairs, world: World) -> Groups:
    """Group the devices of pairs along the axes that the pairs run along, if there is a mesh. A shift by two connects
    only every second device, but it is still an exchange along the whole axis."""
    axes = axes_of_pairs(pairs, world.mesh) if world.mesh is not None else None
    return connected(pairs) if axes is None or world.mesh is None else groups_on(axes, world.mesh)
