"""Turn bytes that claim to be an exported program into an executable for one mesh, or reject them."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.confined import private_jax
from grader.confined.artifact import APPROX_TOP_K, GPU_KERNELS, read_exported
from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.core.wire import ArrayForm
from grader.program.hlo import Module, read_hlo
from grader.program.stablehlo import ExportedProgram, read_stablehlo
from grader.program.tokens import ProgramUnreadable, Tokens
from grader.verifier.approx_top_k import without_approximations
from grader.verifier.channels import UNMERGED, number_channels, shared_channel, unequal
from grader.verifier.depth import check_brackets
from grader.verifier.element_types import check_written
from grader.verifier.errors import ProgramRefused
from grader.verifier.gpu_kernels import without_gpu_kernels
from grader.verifier.kernels import check_kernels
from grader.verifier.operations import check_operations

_WIDE = frozenset(("int64", "uint64", "float64", "complex128"))
# Reading this much takes a few seconds. The largest program of the shipped problems is a fiftieth of it.
_MAX_HLO_CHARACTERS = 8_000_000


class NotAlone(Exception):
    """The program calls native kernels, but its verifier also serves other programs."""


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A compiled program. `placed` says for each input whether the program itself sets its sharding.

    `received` has the tokens of the exported program as JAX wrote it, and `written` is its text with its own channels.
    `hlo` is the parsed HLO of `compiled`, and `kernels` names the native code that it calls.
    """

    compiled: jax.stages.Compiled
    mesh: Mesh
    in_shardings: list[NamedSharding]
    placed: list[bool]
    in_avals: list[jax.core.ShapedArray]
    out_avals: list[jax.core.ShapedArray]
    exported: ExportedProgram
    received: Tokens
    written: str
    hlo: Module
    kernels: tuple[str, ...]


def load(
    artifact: bytes, axes: dict[str, int], expected: Sequence[ArrayForm], state: int, *, alone: bool = False
) -> Loaded:
    """Deserialize, check and compile a program.

    Args:
      axes: mesh axis to size, in order.
      expected: `{"shape", "dtype"}` of every input, in order; the first `state` of them are donated.
      alone: this process serves no other program, so this one can call native kernels.
    Raises:
      ProgramRefused: the bytes are not a program, or it is for other devices or inputs, reaches outside itself, or
        could let devices meet in different collectives.
      NotAlone: the program needs its own verifier.
      ProgramUnreadable: its text cannot be read.
    """
    # Each program has a context of its own, so that nothing of it is left for the next one.
    private_jax.share_lowering_context()
    # Try XLA's default first, which may merge equal collectives on one channel.
    for apart in (False, True):
        exported, received, written, module = read_artifact(artifact, axes, expected, apart=apart)
        if module.custom_calls and not alone:
            raise NotAlone
        devices = np.array(jax.devices()[: exported.nr_devices]).reshape(tuple(axes.values()))
        mesh = Mesh(devices, tuple(axes), axis_types=axis_kinds(exported, axes))
        lowered, given, shardings = lower(exported, mesh, state)
        options = COMPILER_OPTIONS | (UNMERGED if apart else {})
        compiled = lowered.compile(compiler_options=private_jax.known_options(options))
        hlo = read_compiled(compiled)
        kernels = check_kernels(hlo)
        if kernels and not alone:
            raise NotAlone
        shared = shared_channel(hlo, devices.size)
        if shared is None:
            break
        if apart:
            raise unequal(hlo, *shared)
    return Loaded(
        compiled=compiled,
        mesh=mesh,
        in_shardings=shardings,
        placed=[each is not None for each in given],
        in_avals=list(exported.in_avals),
        out_avals=list(exported.out_avals),
        exported=module,
        received=received,
        written=written,
        hlo=hlo,
        kernels=kernels,
    )


def read_artifact(
    artifact: bytes,
    axes: dict[str, int],
    expected: Sequence[ArrayForm],
    *,
    apart: bool = False,
    chip: str = "",
) -> tuple[jax.export.Exported, Tokens, str, ExportedProgram]:
    """Deserialize and check a program.

    Args:
      apart: give each collective its own channel, even equal ones.
      chip: it is compiled for chips of this platform (`grader.core.chips.Lowering`), and never run. If it was lowered
        for them, it may call their libraries.
    Returns:
      The program; the tokens of its text as it was received; its text with the channels that it is compiled with; and
      what that says.
    Raises:
      ProgramRefused: the bytes are not a program, or not one that is compiled here.
    """
    try:
        exported, text = read_exported(artifact)
        received = check_brackets(text)
        if APPROX_TOP_K in text:
            text = without_approximations(text, on_tpus=chip == "tpu")
        if chip == "cuda" and any(target in text for target in GPU_KERNELS):
            text = without_gpu_kernels(text)
        exported = dataclasses.replace(exported, mlir_module_serialized=number_channels(text, apart=apart))
    except ProgramRefused:
        raise
    except ProgramUnreadable as error:
        raise _unreadable(error) from None
    except Exception as error:  # the bytes are hostile: on any error of the parser, they are not a program
        raise ProgramRefused(
            "not_exportable", f"The exported program cannot be read: {type(error).__name__}."
        ) from None
    lowered = chip if tuple(exported.platforms) == (chip,) else "cpu"
    _check(exported, int(np.prod(list(axes.values()))), expected, lowered)
    written = exported.mlir_module()
    try:
        module = read_stablehlo(written)
    except ProgramUnreadable as error:
        raise _unreadable(error) from None
    check_operations(module, lowered, for_chip=bool(chip))
    check_written(module)
    return exported, received, written, module


def _unreadable(error: ProgramUnreadable) -> ProgramRefused:
    """Turn the error into a refusal, which both verifiers and compilers for chips handle."""
    return ProgramRefused("not_exportable", f"The exported program cannot be read: {error}.")


def lower(
    exported: jax.export.Exported, mesh: Mesh, state: int
) -> tuple[jax.stages.Lowered, list[NamedSharding | None], list[NamedSharding]]:
    """Lower a program for the devices of a mesh, with the first `state` inputs donated.

    Returns:
      The lowered program; the sharding that it sets for each input, or None; and the sharding that each input has.
    """
    given = _given_shardings(exported, mesh)
    shardings = [each if each is not None else NamedSharding(mesh, P()) for each in given]
    avals = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)
        for aval, sharding in zip(exported.in_avals, shardings, strict=True)
    ]
    # Keep 64-bit numbers if the source enabled them; otherwise, JAX would narrow them here.
    is_wide = any(aval.dtype.name in _WIDE for aval in exported.in_avals)
    with jax.set_mesh(mesh), jax.enable_x64(is_wide):
        jitted = jax.jit(exported.call, donate_argnums=tuple(range(state)), keep_unused=True)
        return jitted.lower(*avals), given, shardings


def read_compiled(compiled: jax.stages.Compiled) -> Module:
    """Read the HLO of a compiled program. Raises `ProgramUnreadable`, including for HLO that is too long."""
    return read_text(compiled.as_text() or "")


def read_text(text: str) -> Module:
    """Read HLO. Raises `ProgramUnreadable`, including for HLO that is too long."""
    if len(text) > _MAX_HLO_CHARACTERS:
        raise ProgramUnreadable(f"it has {len(text):,} characters of HLO; at most {_MAX_HLO_CHARACTERS:,} are read")
    return read_hlo(text)


def _check(exported: jax.export.Exported, devices: int, expected: Sequence[ArrayForm], platform: str) -> None:
    if exported.nr_devices != devices:
        fault = f"The program is for {exported.nr_devices} devices, but the mesh has {devices}."
        raise ProgramRefused("not_exportable", fault)
    if tuple(exported.platforms) != (platform,):
        raise ProgramRefused(
            "not_exportable", f"The program is for {', '.join(exported.platforms)[:80]}, not for the CPU."
        )
    if exported.ordered_effects or exported.unordered_effects or exported.disabled_safety_checks:
        raise ProgramRefused("not_exportable", "The program has side effects.")
    found = [{"shape": list(aval.shape), "dtype": str(aval.dtype)} for aval in exported.in_avals]
    wanted = [{"shape": list(each["shape"]), "dtype": each["dtype"]} for each in expected]
    if found != wanted:
        raise ProgramRefused("not_exportable", "The program does not take the inputs that it had to be exported with.")
    if exported.out_tree != jax.tree.structure(tuple(exported.out_avals)):  # type: ignore[operator]
        raise ProgramRefused("not_exportable", "The program does not return a flat tuple of arrays.")


def axis_kinds(exported: jax.export.Exported, axes: dict[str, int]) -> tuple[AxisType, ...]:
    """The kind of each mesh axis: Explicit if the program was traced on such a mesh, because JAX requires the same."""
    for sharding in private_jax.named_shardings(exported):
        if sharding is not None and sharding.mesh.axis_names == tuple(axes):
            return tuple(sharding.mesh.axis_types)
    return (AxisType.Auto,) * len(axes)


def _given_shardings(exported: jax.export.Exported, mesh: Mesh) -> list[NamedSharding | None]:
    try:
        given = exported.in_shardings_jax(mesh)
    except ValueError:
        raise ProgramRefused(
            "wrong_sharding", f"The program was exported for a mesh other than {dict(mesh.shape)}."
        ) from None
    placed = [each for each in given if each is None or isinstance(each, NamedSharding)]
    if len(placed) != len(given):
        raise ProgramRefused("wrong_sharding", "An input of the program is not sharded over the mesh.")
    return placed
