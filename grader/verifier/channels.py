"""Number the channels of collectives, so that devices can meet only in equal collectives.

On the CPU, devices meet if run, group of devices and channel are the same. Then each copies as many elements as its own
collective has, from and to the others' buffers: XLA does not compare the shapes. JAX gives all collectives channel 1.
So if two devices take different branches of a `lax.cond`, a large all_gather can meet a small one, and they read and
write past the end of the small buffers.

Here, each channel belongs to one collective: before compilation, only equal collectives get the same number, and
afterwards, the compiled program is checked. Then devices that take different branches only wait for one another.

Source: `GetRendezvousKey` in https://github.com/openxla/xla/blob/main/xla/backends/cpu/runtime/collective_thunk.cc and
https://github.com/openxla/xla/blob/main/xla/backends/cpu/collectives/in_process_communicator.cc
"""

from collections.abc import Hashable

from jax.extend import mlir
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

from grader.confined import private_jax
from grader.program.collectives import KINDS, is_collective
from grader.program.hlo import Computation, Instruction, Module, reference
from grader.program.shapes import leaves
from grader.program.tokens import integer
from grader.program.walk import Site, sites
from grader.verifier.depth import check_depth
from grader.verifier.errors import ProgramRefused

# Without this pass, XLA does not merge all_reduces, so copies of one stay equal.
UNMERGED: dict[str, str | bool] = {"xla_disable_hlo_passes": "cpu-all-reduce-combiner"}
_NUMBERED = frozenset(f"stablehlo.{kind.replace('-', '_')}" for kind in KINDS)
_CHANNEL = "channel_handle"
# StableHLO's number for channels between devices, which JAX writes in portable artifacts.
_BETWEEN_DEVICES = 0
# Attributes that do not affect what is sent. The reducer is compared by what it computes, not by name.
_UNCOMPARED = frozenset("channel_id metadata frontend_attributes backend_config to_apply sharding".split())


def number_channels(text: str, *, apart: bool = False) -> bytes:
    """Give equal collectives of a module the same channel, and different ones different channels.

    Equal ones share a channel because XLA merges equal collectives only if their channels are equal.

    Args:
      text: StableHLO.
      apart: give each collective its own channel.
    Returns:
      The module in bytecode.
    Raises:
      ProgramRefused: it is too deep for XLA.
      ProgramUnreadable: its functions call one another too deep.
    """
    with private_jax.lowering_context():
        module = ir.Module.parse(text)
        check_depth(module)
        numbers: dict[Hashable, int] = {}

        def visit(operation: ir.Operation) -> ir.WalkResult:
            if operation.name in _NUMBERED and _CHANNEL in operation.attributes:
                what = len(numbers) if apart else _written(operation)
                number = numbers.setdefault(what, len(numbers) + 1)
                operation.attributes[_CHANNEL] = stablehlo.ChannelHandle.get(number, _BETWEEN_DEVICES)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        version = stablehlo.get_current_version()
        return bytes(mlir.serialize_portable_artifact(module, version, True))


def _written(operation: ir.Operation) -> Hashable:
    attributes = operation.attributes
    return (
        operation.name,
        tuple((name, str(attributes[name])) for name in attributes if name != _CHANNEL),
        tuple(str(each.type) for each in (*operation.operands, *operation.results)),
        tuple(
            (inner.operation.name, tuple(str(each.type) for each in inner.operation.results))
            for region in operation.regions
            for block in region.blocks
            for inner in block.operations
        ),
    )


def shared_channel(module: Module, devices: int) -> tuple[Instruction, Instruction] | None:
    """Find two different collectives in which devices of a compiled program could meet; None if there are none.

    Collectives that all devices reach in the same order never meet different ones, even on one channel. They are
    outside branches, and in loops only with known trip counts.

    Raises:
      ProgramRefused: the program is for replicas, or something other than a collective has a channel.
    """
    partitions, replicas = (
        "".join(module.attributes.get(name, ("1",))) for name in ("num_partitions", "replica_count")
    )
    if (partitions, replicas) != (str(devices), "1"):
        # Collectives without a channel are between replicas, where all of a program's collectives meet.
        raise ProgramRefused("not_exportable", f"The program is for {replicas} replicas of {partitions} devices.")
    found: dict[int, tuple[Computation, Instruction]] = {}
    pairs: dict[int, tuple[Instruction, Instruction]] = {}
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            channel = _channel(instruction)
            if channel is None:
                continue
            first = found.setdefault(channel, (computation, instruction))
            if _compiled(module, *first) != _compiled(module, computation, instruction):
                pairs.setdefault(channel, (first[1], instruction))
    if not pairs:
        return None
    for site in sites(module, is_collective):
        channel = _channel(site.instruction)
        if channel in pairs and not _in_order(site):
            return pairs[channel]
    return None


def _channel(instruction: Instruction) -> int | None:
    value = instruction.attributes.get("channel_id")
    if value is None or instruction.opcode.endswith("-done"):
        return None
    number = integer("".join(value))
    if number is None or not is_collective(instruction):
        raise ProgramRefused(
            "not_exportable", f"The compiled program contains `{instruction.opcode[:80]}` with a channel."
        )
    return number


def _in_order(site: Site) -> bool:
    return site.executions is not None and not site.conditional and not site.asynchronous


def _compiled(module: Module, computation: Computation, instruction: Instruction) -> Hashable:
    """Return everything that an instruction sends, and how."""
    attributes = {name: each for name, each in instruction.attributes.items() if name not in _UNCOMPARED}
    operands = tuple(computation.operand(instruction, index).shape for index in range(len(instruction.operands)))
    reducer = module.computations.get(reference("".join(instruction.attributes.get("to_apply", ()))))
    steps = tuple((each.opcode, each.shape) for each in reducer.instructions.values()) if reducer else None
    return instruction.opcode, operands, instruction.shape, tuple(sorted(attributes.items())), steps


def unequal(module: Module, one: Instruction, other: Instruction) -> ProgramRefused:
    """The error for a program in which devices could meet in these two collectives."""
    first, second = (_shown(module, each) for each in (one, other))
    return ProgramRefused(
        "divergent_collective",
        f"If devices took different branches, or different numbers of rounds in a loop, {first} on one device would "
        f"meet {second} on another. Move them out of the `lax.cond`, `lax.switch` or `lax.while_loop`, or call the "
        "same collective with the same shapes in each branch.",
    )


def _shown(module: Module, collective: Instruction) -> str:
    kind = collective.opcode.removesuffix("-start").replace("-", "_")
    arrays = ", ".join(str(each) for each in leaves(collective.shape))[:120]
    line = module.source.line(collective.attributes.get("metadata", ()), "submission.py")
    return f"{'an' if kind[0] == 'a' else 'a'} {kind} of {arrays}{f' (line {line})' if line else ''}"
