"""Read the order in which a chip runs a compiled program, and which collectives are in flight meanwhile.

Compilers for TPUs and GPUs print a module in the order of their schedule. A collective is asynchronous if one
instruction starts it and a later one waits for it; whatever is scheduled in between hides it. The one for TPUs
estimates the cycles of most instructions, but not those of collectives; the one for GPUs estimates none.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from grader.core.chips import Chip
from grader.program.axes import axes_of
from grader.program.collectives import Collective, World, is_collective, read_collective
from grader.program.dots import is_dot, read_dot
from grader.program.flow import Flow
from grader.program.hlo import Computation, Instruction, Module, Value
from grader.program.loops import trip_count
from grader.program.shapes import leaves
from grader.program.tokens import ProgramUnreadable, cut_hlo, integer, shown, unquoted
from grader.program.walk import Site, flat_calls, sites

MAX_STEPS = 2_000
LONGEST = 200
# What these call is scheduled, too. Any other call, such as a fusion's, is one step.
_SCHEDULED = {"while": ("body", "condition"), "call": ("to_apply",), "conditional": ()}
# What a GPU runs no kernel for.
_WITHOUT_KERNEL = frozenset(
    "parameter constant tuple get-tuple-element bitcast after-all opt-barrier partition-id replica-id".split()
)
_START, _DONE = "AsyncCollectiveStart", "AsyncCollectiveDone"
# Instructions that a collective may pass through between its start and the wait for it.
_PASSED_ON = {"get-tuple-element", "tuple", "bitcast", "copy", "opt-barrier", "fusion", "async-update"}
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction that takes time, with everything that it calls, each time that it runs.

    Attributes:
      cycles: the compiler's estimate; None if it has none, as for communication.
      flops: those of its matrix products; None if one of them runs an unknown number of times.
    """

    name: str
    cycles: int | None
    flops: int | None
    line: int | None


@dataclass(frozen=True, slots=True)
class ScheduledCollective:
    """One execution of a collective. Bytes and kinds are those of `grader.program.collectives.Collective`.

    Attributes:
      axes: None if its groups do not run along axes of the mesh.
      link: what the slowest hop crosses, such as NVLink within a host and InfiniBand between hosts.
      start, done: the steps that start it and wait for it, equal if it is not asynchronous. `done` is None if the wait
        is elsewhere, as in a later trip of the loop.
    """

    kind: str
    dtypes: tuple[str, ...]
    axes: tuple[str, ...] | None
    group_size: int
    logical_bytes: int
    ring_bytes: int
    link: str
    line: int | None
    start: int
    done: int | None

    @property
    def asynchronous(self) -> bool:
        return self.done != self.start


@dataclass(frozen=True, slots=True)
class ScheduledComputation:
    """The program itself, the body of a loop, or a called computation. `caller` is empty for the program itself.

    Attributes:
      executions: how often it runs in one call of the program; None if that is unknown.
      steps: in the order in which they begin.
    """

    name: str
    caller: str
    executions: int | None
    steps: tuple[Step, ...]
    collectives: tuple[ScheduledCollective, ...]

    def between(self, collective: ScheduledCollective) -> tuple[Step, ...]:
        """The steps that hide an asynchronous collective: after its start and before the wait for it."""
        return self.steps[collective.start + 1 : collective.done] if collective.asynchronous else ()

    def kernels_between(self, collective: ScheduledCollective) -> int:
        """How many of these steps compute, instead of starting another collective or waiting for it."""
        communicates = {step for each in self.collectives for step in (each.start, each.done)}
        if not collective.asynchronous:
            return 0
        end = len(self.steps) if collective.done is None else collective.done
        return sum(step not in communicates for step in range(collective.start + 1, end))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Callers before what they call. `left_out` counts the steps beyond the first 2,000."""

    computations: tuple[ScheduledComputation, ...]
    left_out: int


def read_schedule(
    module: Module, devices: int, mesh: Mapping[str, int], chip: Chip, source: str = "submission.py"
) -> Schedule:
    """Read the schedule of a program that was compiled for a slice of these chips.

    Args:
      source: file name of the lines that `line` means.
    Raises:
      ProgramUnreadable: the module is not scheduled, or it is inconsistent.
    """
    if module.attributes.get("is_scheduled") != ("true",):
        raise ProgramUnreadable("the compiler did not schedule it")
    # This walk guarantees that no computation calls itself, and that the calls do not unfold to too many.
    sites(module, lambda instruction: is_collective(instruction) or is_dot(instruction))
    return _Reader(module, World(devices, devices, mesh), chip, source).schedule()


# Kind, channel (which several may share), and shapes of the operands.
_Signature: TypeAlias = tuple[str, int | None, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True)
class _Started:
    """The number of a started collective, and its signature, which fusions repeat while it is in flight."""

    collective: int
    signature: _Signature


class _Reader:
    def __init__(self, module: Module, world: World, chip: Chip, source: str) -> None:
        self.module = module
        self.chip = chip
        self.world = world
        self.source = source
        self.steps: dict[str, tuple[list[Step], list[ScheduledCollective]]] = {}

    def schedule(self) -> Schedule:
        found: list[ScheduledComputation] = []
        waiting: list[tuple[Computation, str, int | None]] = [(self.module.entry, "", 1)]
        room, left_out = MAX_STEPS, 0
        seen = {self.module.entry.name}
        while waiting:
            computation, caller, executions = waiting.pop(0)
            steps, collectives = self._read(computation)
            kept = steps[:room]
            room -= len(kept)
            left_out += len(steps) - len(kept)
            if kept:
                known = tuple(each for each in collectives if max(each.start, each.done or 0) < len(kept))
                found.append(ScheduledComputation(computation.name[:LONGEST], caller, executions, tuple(kept), known))
            for instruction, inner, times in self._called(computation):
                if inner.name not in seen:
                    seen.add(inner.name)
                    waiting.append((inner, instruction.name[:LONGEST], _times(executions, times)))
        return Schedule(tuple(found), left_out)

    def _called(self, computation: Computation) -> Iterator[tuple[Instruction, Computation, int | None]]:
        """The calls of computations that have their own schedule, and how often each call runs them."""
        for instruction in computation.instructions.values():
            wanted = _SCHEDULED.get(instruction.opcode)
            if wanted is None:
                continue
            times = trip_count(self.module, computation, instruction) if instruction.opcode == "while" else 1
            for attribute, inner in flat_calls(self.module, instruction):
                if attribute in wanted or not wanted:
                    yield instruction, inner, times

    def _read(self, computation: Computation) -> tuple[list[Step], list[ScheduledCollective]]:
        if computation.name not in self.steps:
            self.steps[computation.name] = self._steps_of(computation)
        return self.steps[computation.name]

    def _steps_of(self, computation: Computation) -> tuple[list[Step], list[ScheduledCollective]]:
        steps: list[Step] = []
        collectives: list[ScheduledCollective] = []
        started: dict[str, _Started] = {}
        for instruction in computation.instructions.values():
            number = len(steps)
            inside = self._collectives_in(computation, instruction)
            repeated = {_signature(each) for each in inside}
            if self._is_done(instruction):
                name = _start_of(computation, instruction, started, repeated)
                if name is not None:
                    start = started.pop(name)
                    collectives[start.collective] = replace(collectives[start.collective], done=number)
                    steps.append(self._step(computation, instruction))
                continue
            is_start = instruction.opcode.endswith("-start") or self._calls_to(instruction, _START)
            # A fusion that computes while the collective is in flight repeats it.
            is_fusion = instruction.opcode == "fusion"
            if (
                is_fusion
                and inside
                and not is_start
                and _start_of(computation, instruction, started, repeated) is not None
            ):
                inside = []
            step = self._step(computation, instruction)
            for each in inside:
                if is_start:
                    started[instruction.name] = _Started(len(collectives), _signature(each))
                done = None if is_start else number
                line = each.source_line or step.line or self._line_of_operands(computation, instruction)
                collectives.append(self._scheduled(each, line, number, done))
            is_kernel = self.chip.gpu is not None and instruction.opcode not in _WITHOUT_KERNEL
            if inside or step.cycles or step.flops != 0 or is_kernel:
                steps.append(step)
        return steps, collectives

    def _step(self, computation: Computation, instruction: Instruction) -> Step:
        line = self.module.source.line(instruction.attributes.get("metadata", ()), self.source)
        if instruction.opcode in _SCHEDULED:
            return self._step_of_call(computation, instruction, line)
        flops = sum(
            read_dot(Site(inner, each), None).flops
            for inner, each in self._inside(computation, instruction)
            if is_dot(each)
        )
        return Step(instruction.name[:LONGEST], _cycles(instruction), flops, line)

    def _line_of_operands(self, computation: Computation, instruction: Instruction) -> int | None:
        """The line of what a collective sends: XLA gives none to those that it combines."""
        for name in instruction.operands:
            made = computation.instructions.get(name)
            line = self.module.source.line(made.attributes.get("metadata", ()), self.source) if made else None
            if line is not None:
                return line
        return None

    def _step_of_call(self, computation: Computation, instruction: Instruction, line: int | None) -> Step:
        """A loop or a call: the sum of what it runs."""
        trips = trip_count(self.module, computation, instruction) if instruction.opcode == "while" else 1
        cycles: int | None = 0
        flops: int | None = 0
        for _, inner in flat_calls(self.module, instruction):
            steps, _ = self._read(inner)
            # Collectives have no estimate, so this is the sum of the rest.
            cycles = _sum(cycles, _times(sum(each.cycles or 0 for each in steps), trips))
            flops = _sum(flops, _times(total(each.flops for each in steps), trips))
        return Step(instruction.name[:LONGEST], cycles or None, flops, line)

    def _inside(self, computation: Computation, instruction: Instruction) -> Iterator[tuple[Computation, Instruction]]:
        """The instruction, and those of the fusions in it."""
        waiting = [(computation, instruction)]
        while waiting:
            around, each = waiting.pop()
            yield around, each
            if each.opcode == "fusion" or each.opcode.endswith("-start"):
                for _, inner in flat_calls(self.module, each):
                    waiting.extend((inner, one) for one in inner.instructions.values())

    def _collectives_in(self, computation: Computation, instruction: Instruction) -> list[Collective]:
        found = []
        for inner, each in self._inside(computation, instruction):
            # The collective that an async-start wraps is inside it.
            if is_collective(each):
                one = read_collective(self.module, Site(inner, each), self.world, Flow({}, {}), self.source)
                found.append(_as_scattered(one, inner, instruction) if inner is not computation else one)
        return [each for each in found if each.group_size > 1]

    def _is_done(self, instruction: Instruction) -> bool:
        return instruction.opcode.endswith("-done") or self._calls_to(instruction, _DONE)

    def _calls_to(self, instruction: Instruction, target: str) -> bool:
        if instruction.opcode != "fusion":
            return False
        return any(
            each.opcode == "custom-call"
            and unquoted("".join(each.attributes.get("custom_call_target", ("",)))) == target
            for _, inner in flat_calls(self.module, instruction)
            for each in inner.instructions.values()
        )

    def _scheduled(self, each: Collective, line: int | None, start: int, done: int | None) -> ScheduledCollective:
        return ScheduledCollective(
            kind=each.kind,
            dtypes=each.dtypes,
            axes=axes_of(each.groups, self.world.mesh or {}),
            group_size=each.group_size,
            logical_bytes=each.logical_bytes,
            ring_bytes=each.ring_bytes,
            link=self.chip.link(each.groups),
            line=line,
            start=start,
            done=done,
        )


def _signature(each: Collective) -> _Signature:
    return each.kind, each.channel, each.operand_shapes


def _start_of(
    computation: Computation, instruction: Instruction, started: Mapping[str, _Started], repeated: set[_Signature]
) -> str | None:
    """Find the nearest start that an instruction's operands lead back to.

    Args:
      repeated: the collectives in the instruction, if it is a fusion. If it also computes, its operands may lead to the
        starts of other collectives.
    """
    waiting, seen = list(instruction.operands), set(instruction.operands)
    for name in waiting:
        if name in started and (not repeated or started[name].signature in repeated):
            return name
        found = computation.instructions.get(name)
        if found is not None and found.opcode in _PASSED_ON:
            waiting.extend(new for new in dict.fromkeys(found.operands) if new not in seen)
            seen.update(found.operands)
    return None


def _as_scattered(each: Collective, inner: Computation, fusion: Instruction) -> Collective:
    """A reduce-scatter, which the TPU compiler writes as a fusion of an all-reduce and slices of its results."""
    reduced = sum(shape.bytes for shape in leaves(inner.instructions[each.name].shape))
    kept = sum(shape.bytes for shape in leaves(fusion.shape))
    if each.kind == "all-reduce" and kept * each.group_size == reduced:
        return replace(each, kind="reduce-scatter", ring_bytes=each.ring_bytes // 2)
    return each


def _cycles(instruction: Instruction) -> int | None:
    """Read `"estimated_cycles":"384"` from the backend's JSON, which is either plain or inside a string."""
    config: Value = instruction.attributes.get("backend_config", ())
    if len(config) == 1 and config[0][:1] == '"':
        tokens = cut_hlo(unquoted(config[0]))
        config = tuple(tokens.items[: tokens.end])
    for at, token in enumerate(config):
        if token == '"estimated_cycles"':
            count = integer("".join(config[at + 2 : at + 3]).strip('"'))
            if count is None or not 0 <= count < _MOST:
                raise ProgramUnreadable(f"{shown(instruction.name)} has no number of estimated cycles")
            return count or None
    return None


def total(numbers: Iterable[int | None]) -> int | None:
    """The sum; None if one of them is unknown."""
    result: int | None = 0
    for number in numbers:
        result = _sum(result, number)
    return result


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None or one + other > _MOST else one + other


def _times(one: int | None, other: int | None) -> int | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None or one * other > _MOST else one * other
