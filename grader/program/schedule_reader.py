"""Read the order in which a chip runs a compiled program, and which collectives are in flight meanwhile.

Compilers for TPUs and GPUs print a module in the order of their schedule. A collective is asynchronous if one
instruction starts it and a later one waits for it; whatever is scheduled in between hides it. The compiler for GPUs
marks a pair of them as synchronous if nothing is. The one for TPUs
estimates the cycles of most instructions, but not those of collectives; the one for GPUs estimates none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from grader.core.chips import Chip
from grader.program.axes import axes_of
from grader.program.collectives import Collective, Part, World, is_collective, read_collective
from grader.program.copies import CopyReader
from grader.program.dots import is_dot, read_dot
from grader.program.flat_buffers import divided
from grader.program.flow import Flow
from grader.program.hlo import Computation, Instruction, Module, Value
from grader.program.loops import trip_count
from grader.program.nearby_lines import NearbyLines
from grader.program.product_lines import lines_of_products
from grader.program.schedule import (
    MAX_COPIES,
    MAX_STEPS,
    Schedule,
    ScheduledCollective,
    ScheduledComputation,
    ScheduledCopy,
    ScheduledShare,
    Step,
    product,
    sum_of,
    total,
)
from grader.program.shapes import leaves
from grader.program.tokens import ProgramUnreadable, cut_hlo, integer, shown, unquoted
from grader.program.walk import Site, flat_calls, sites

LONGEST = 200
# Calls whose computations are scheduled, too. Any other call, such as a fusion's, is one step.
_SCHEDULED = {"while": ("body", "condition"), "call": ("to_apply",), "conditional": ()}
# Instructions for which a GPU runs no kernel.
_WITHOUT_KERNEL = frozenset(
    "parameter constant tuple get-tuple-element bitcast after-all opt-barrier partition-id replica-id".split()
)
# The target of a Pallas kernel, for which the compiler has no estimate.
_TPU_KERNEL = "tpu_custom_call"
_START, _DONE = "AsyncCollectiveStart", "AsyncCollectiveDone"
# Instructions that a collective may pass through between its start and the wait for it.
_PASSED_ON = {"get-tuple-element", "tuple", "bitcast", "copy", "opt-barrier", "fusion", "async-update"}
_MOST = 2**62


def read_schedule(
    module: Module,
    devices: int,
    mesh: Mapping[str, int],
    chip: Chip,
    source: str = "submission.py",
    *,
    written: Mapping[int, int] | None = None,
) -> Schedule:
    """Read the schedule of a program that was compiled for a slice of these chips.

    Args:
      source: the name of the file that `line` refers to.
      written: `ExportedProgram.product_lines`, which tells the lines of products that lost theirs.
    Raises:
      ProgramUnreadable: the module is not scheduled, or it is inconsistent.
    """
    if module.attributes.get("is_scheduled") != ("true",):
        raise ProgramUnreadable("the compiler did not schedule it")
    # This walk guarantees that no computation calls itself, and that the calls do not unfold to too many.
    sites(module, lambda instruction: is_collective(instruction) or is_dot(instruction))
    return _Reader(module, World(devices, devices, mesh), chip, source, written or {}).schedule()


# Kind, channel (which several may share), and shapes of the operands.
_Signature: TypeAlias = tuple[str, int | None, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True)
class _Started:
    """The number of a started collective, and its signature, which fusions repeat while it is in flight."""

    collective: int
    signature: _Signature


class _Reader:
    def __init__(self, module: Module, world: World, chip: Chip, source: str, written: Mapping[int, int]) -> None:
        self.module = module
        self.chip = chip
        self.world = world
        self.lines = NearbyLines(module, source)
        self.of_products = lines_of_products(module, self.lines, written)
        self.steps: dict[str, tuple[list[Step], list[ScheduledCollective]]] = {}
        self.copies: dict[str, list[ScheduledCopy]] = {}

    def schedule(self) -> Schedule:
        found: list[ScheduledComputation] = []
        waiting: list[tuple[Computation, str, int | None, bool]] = [(self.module.entry, "", 1, False)]
        room, left_out = MAX_STEPS, 0
        copies, copies_left_out = MAX_COPIES, 0
        seen = {self.module.entry.name}
        while waiting:
            computation, caller, executions, conditional = waiting.pop(0)
            steps, collectives = self._read(computation)
            kept = steps[:room]
            room -= len(kept)
            left_out += len(steps) - len(kept)
            all_copies = self.copies[computation.name]
            moved = [each for each in all_copies if kept and max(each.start, each.done or 0) <= len(kept)][:copies]
            copies -= len(moved)
            copies_left_out += len(all_copies) - len(moved)
            if kept:
                known = tuple(each for each in collectives if max(each.start, each.done or 0) < len(kept))
                name = computation.name[:LONGEST]
                found.append(
                    ScheduledComputation(name, caller, executions, tuple(kept), known, tuple(moved), conditional)
                )
            for instruction, inner, times in self._called(computation):
                if inner.name not in seen:
                    seen.add(inner.name)
                    in_branch = conditional or instruction.opcode == "conditional"
                    waiting.append((inner, instruction.name[:LONGEST], product(executions, times), in_branch))
        return Schedule(tuple(found), left_out, copies_left_out)

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
        copies = CopyReader(self.module, self.lines, computation)
        self.copies[computation.name] = copies.found
        for instruction in computation.instructions.values():
            number = len(steps)
            # List copies only on TPUs: a GPU copies in its own stream, and its compiler names no other memories.
            if self.chip.gpu is None and copies.read(instruction, number):
                continue
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
            # The wait for a synchronous collective takes no step, because nothing runs before its end.
            is_asynchronous = is_start and not _is_synchronous(instruction)
            for each in inside:
                if is_asynchronous:
                    started[instruction.name] = _Started(len(collectives), _signature(each))
                done = None if is_asynchronous else number
                collectives.append(self._scheduled(each, number, done))
            is_kernel = (
                instruction.opcode not in _WITHOUT_KERNEL if self.chip.gpu else _is_call(instruction, _TPU_KERNEL)
            )
            if inside or step.cycles or step.flops != 0 or is_kernel:
                steps.append(step)
        return steps, collectives

    def _step(self, computation: Computation, instruction: Instruction) -> Step:
        line = self.lines.own(instruction)
        if instruction.opcode in _SCHEDULED:
            return self._step_of_call(computation, instruction, line)
        products = [place for place in self._inside(computation, instruction) if is_dot(place[1])]
        flops = sum(read_dot(Site(inner, each), None, self.lines.graph).flops for inner, each in products)
        for inner, each in products:
            line = line or self.of_products[inner.name, each.name]
        return Step(instruction.name[:LONGEST], _cycles(instruction), flops, line, _target(instruction)[:LONGEST])

    def _step_of_call(self, computation: Computation, instruction: Instruction, line: int | None) -> Step:
        """Make one step of a loop or a call, with the sum of what it runs."""
        trips = trip_count(self.module, computation, instruction) if instruction.opcode == "while" else 1
        cycles: int | None = 0
        flops: int | None = 0
        for _, inner in flat_calls(self.module, instruction):
            steps, _ = self._read(inner)
            # Collectives have no estimate, so this is the sum of the rest.
            cycles = sum_of(cycles, product(sum(each.cycles or 0 for each in steps), trips))
            flops = sum_of(flops, product(total(each.flops for each in steps), trips))
        return Step(instruction.name[:LONGEST], cycles or None, flops, line)

    def _inside(self, computation: Computation, instruction: Instruction) -> Iterator[tuple[Computation, Instruction]]:
        """Yield the instruction, and those of the fusions in it."""
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
                one = read_collective(self.module, Site(inner, each), self.world, Flow({}, {}, {}), self.lines)
                one = divided(one, self.module, self.lines, (inner, each))
                found.append(_as_scattered(one, inner, instruction) if inner is not computation else one)
        return [each for each in found if each.group_size > 1]

    def _is_done(self, instruction: Instruction) -> bool:
        return instruction.opcode.endswith("-done") or self._calls_to(instruction, _DONE)

    def _calls_to(self, instruction: Instruction, target: str) -> bool:
        if instruction.opcode != "fusion":
            return False
        return any(
            _is_call(each, target)
            for _, inner in flat_calls(self.module, instruction)
            for each in inner.instructions.values()
        )

    def _scheduled(self, each: Collective, start: int, done: int | None) -> ScheduledCollective:
        return ScheduledCollective(
            kind=each.kind,
            dtypes=each.dtypes,
            axes=axes_of(each.groups, self.world.mesh or {}),
            group_size=each.group_size,
            logical_bytes=each.logical_bytes,
            ring_bytes=each.ring_bytes,
            link=self.chip.link(each.groups),
            line=each.source_line,
            start=start,
            done=done,
            by_line=_by_line(each),
        )


def _by_line(each: Collective) -> tuple[ScheduledShare, ...]:
    """Return what each line sends, in the order of the arrays; () if it is a single line."""
    # An all-gather and an all-reduce have a result for each operand.
    dtypes = each.dtypes if len(each.dtypes) == len(each.parts) else (each.dtypes[:1] or ("",)) * len(each.parts)
    by_line: dict[int | None, list[tuple[Part, str]]] = {}
    for part, dtype in zip(each.parts, dtypes, strict=True):
        by_line.setdefault(part.source_line, []).append((part, dtype))
    if len(by_line) < 2 or sum(part.logical_bytes for part in each.parts) != each.logical_bytes:
        return ()
    return tuple(
        ScheduledShare(
            line,
            tuple(dtype for _, dtype in arrays),
            sum(part.logical_bytes for part, _ in arrays),
            sum(part.ring_bytes for part, _ in arrays),
        )
        for line, arrays in by_line.items()
    )


def _signature(each: Collective) -> _Signature:
    return each.kind, each.channel, each.operand_shapes


def _is_call(instruction: Instruction, target: str) -> bool:
    return _target(instruction) == target


def _target(instruction: Instruction) -> str:
    """The target of a custom call; empty for other instructions."""
    if instruction.opcode != "custom-call":
        return ""
    return unquoted("".join(instruction.attributes.get("custom_call_target", ("",))))


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
    """Return the reduce-scatter that the TPU compiler writes as a fusion of an all-reduce and slices of its results."""
    reduced = sum(shape.bytes for shape in leaves(inner.instructions[each.name].shape))
    kept = sum(shape.bytes for shape in leaves(fusion.shape))
    if each.kind == "all-reduce" and kept * each.group_size == reduced:
        parts = tuple(replace(part, ring_bytes=part.ring_bytes // 2) for part in each.parts)
        return replace(each, kind="reduce-scatter", ring_bytes=each.ring_bytes // 2, parts=parts)
    return each


def _config(instruction: Instruction) -> Value:
    """The tokens of the backend's JSON, which is either plain or inside a string."""
    config: Value = instruction.attributes.get("backend_config", ())
    if len(config) == 1 and config[0][:1] == '"':
        tokens = cut_hlo(unquoted(config[0]))
        config = tuple(tokens.items[: tokens.end])
    return config


def _is_synchronous(start: Instruction) -> bool:
    """Whether a GPU runs a collective in the stream of its kernels, as XLA decides if no kernel could run meanwhile."""
    config = _config(start)
    return any(config[at : at + 3] == ('"is_sync"', ":", "true") for at in range(len(config)))


def _cycles(instruction: Instruction) -> int | None:
    """Read `"estimated_cycles":"384"` from the backend's JSON."""
    config = _config(instruction)
    for at, token in enumerate(config):
        if token == '"estimated_cycles"':
            count = integer("".join(config[at + 2 : at + 3]).strip('"'))
            if count is None or not 0 <= count < _MOST:
                raise ProgramUnreadable(f"{shown(instruction.name)} has no number of estimated cycles")
            return count or None
    return None
