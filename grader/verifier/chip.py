"""A verifier that compiles one exported program for a slice of TPUs or GPUs, without one of them. It runs nothing.

libtpu and XLA's plugin for CUDA can compile for a topology by its description. They start threads and install signal
handlers, so they are loaded only in a separate process, which serves one program and then ends.
"""

import dataclasses
import itertools
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import jax
import numpy as np
from jax.experimental import topologies
from jax.sharding import NamedSharding

from grader.confined.artifact import APPROX_TOP_K, ONLY_ON_CHIPS
from grader.confined.confine import limit_memory
from grader.confined.request_loop import Fields, answer_requests, refusal
from grader.core.chips import GPU_FOLDER, Chip, Platform, slice_of
from grader.core.wire import ArrayForm, Frame
from grader.core.xla_options import for_compiler
from grader.program import facts
from grader.program.buffer_assignment import Assigned, read_buffer_assignment
from grader.program.census import census_of
from grader.program.facts import ProgramFacts
from grader.program.hlo import Module
from grader.program.library_memory import library_memory
from grader.program.memory import memory_of
from grader.program.on_chip import ChipFacts
from grader.program.schedule_reader import read_schedule
from grader.program.shapes import leaves
from grader.program.strict_json import write
from grader.program.tokens import ProgramUnreadable
from grader.verifier.errors import ProgramRefused, failed_inside_xla
from grader.verifier.load import axis_kinds, lower, read_artifact, read_compiled, read_text
from grader.verifier.measure import collect

_ENVIRONMENT: dict[Platform, dict[str, str]] = {
    # Keep libtpu from looking for a TPU or a virtual machine's metadata server, and from locking a file to keep other
    # processes off a TPU.
    "tpu": {
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
        "TPU_SKIP_MDS_QUERY": "1",
        "TPU_ACCELERATOR_TYPE": "v5litepod-8",
        "TPU_WORKER_HOSTNAMES": "localhost",
    },
    # The plugin warns that there is no driver.
    "gpu": {"TF_CPP_MIN_LOG_LEVEL": "3"},
}
# XLA's `GpuTargetConfigProto` as text. Values that `GPU` lacks are those of an H100: the compiler needs them to lay out
# shared memory, but collectives, sharding and memory do not depend on them.
_GPU_TARGET = """
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: {cores}
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {bandwidth}
  l2_cache_size: 52428800
  clock_rate_ghz: 1.98
  device_memory_size: {memory}
  shared_memory_per_block_optin: 232448
  cuda_compute_capability {{ major: {capability} }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 7 }}
runtime_version {{ major: 12 minor: 8 }}
device_description_str: "{title}"
"""

# The files that XLA writes after its last pass and before it makes machine code.
_SCHEDULED, _ASSIGNMENT = "gpu_after_optimizations.txt", "gpu_after_optimizations-buffer-assignment.txt"


def serve(fd: int, *, platform: Platform, max_payload_bytes: int) -> None:
    """Answer requests on `fd` until it is closed."""
    find_compiler(platform)

    def answer(request: Fields, values: Fields) -> Frame:
        try:
            match request["op"]:
                case "begin":
                    limit_memory(request["data_bytes"], request["address_bytes"])
                case "compile_for":
                    artifact = values["artifact"].tobytes()
                    found = compile_for(
                        artifact,
                        request["topology"],
                        request["mesh"],
                        request["inputs"],
                        request["state"],
                        options=request["options"],
                        with_facts=request["facts"],
                    )
                    described = None if found.facts is None else facts.to_json(found.facts)
                    return {"ok": True, "program": write(found.program), "facts": described}, {}
            return {"ok": True}, {}
        except ProgramRefused as refused:
            return refusal(refused.reason, str(refused), refused.detail), {}

    answer_requests(fd, {"ok": True, "devices": 1, "environment": {}}, answer, max_payload_bytes=max_payload_bytes)


def find_compiler(platform: Platform) -> None:
    """Let this process load the compiler for chips of this platform, before JAX starts its backend."""
    os.environ.update(_ENVIRONMENT[platform])
    if platform == "gpu":
        sys.path.insert(0, str(GPU_FOLDER))


@dataclasses.dataclass(frozen=True, slots=True)
class CompiledForChip:
    """A program that was compiled for a slice. `facts`, if requested, have the form of those for host devices."""

    program: ChipFacts
    facts: ProgramFacts | None


def compile_for(
    artifact: bytes,
    topology: str,
    axes: dict[str, int],
    inputs: list[ArrayForm],
    state: int,
    *,
    options: Mapping[str, str] | None = None,
    with_facts: bool = False,
) -> CompiledForChip:
    """Compile an exported program for a slice.

    Args:
      axes: the mesh, by axis.
      state: how many of the inputs, the first ones, are donated.
      options: of XLA, as `grader.core.xla_options.read_option` returns their values, for a GPU.
      with_facts: also return facts, for a program that cannot be compiled for host devices.
    Raises:
      ProgramRefused: the compiler refuses it, or it cannot be read.
    """
    chip, _ = slice_of(topology)
    exported, _, _, module = read_artifact(artifact, axes, inputs, chip=chip.lowering)
    if tuple(exported.platforms) != (chip.lowering,):
        if set(module.custom_calls) - {ONLY_ON_CHIPS, APPROX_TOP_K}:
            raise ProgramRefused("not_exportable", f"It calls native code of the CPU, which {chip.one} does not have.")
        # Operations are the same on every platform, and the program has no custom calls of the CPU.
        exported = dataclasses.replace(exported, platforms=(chip.lowering,))
    try:
        devices = devices_of(chip, topology, tuple(axes.values()))
        mesh = jax.sharding.Mesh(devices, tuple(axes), axis_types=axis_kinds(exported, axes))
        lowered, given, shardings = lower(exported, mesh, state)
        hlo, assigned = _compiled_for_tpu(lowered) if chip.gpu is None else _compiled_for_gpu(lowered, options)
        program = chip_facts(hlo, assigned, exported.nr_devices, axes, chip, module.product_lines)
        if not with_facts:
            return CompiledForChip(program, None)
        taken = zip(exported.in_avals, shardings, given, strict=True)
        inputs_placed = [(aval, sharding, each is not None) for aval, sharding, each in taken]
        made = zip(exported.out_avals, exported.out_shardings_jax(mesh), _results_of(hlo), strict=True)
        outputs_placed = [(aval, *_placement(aval.shape, each, held, mesh)) for aval, each, held in made]
        return CompiledForChip(program, collect(mesh, inputs_placed, outputs_placed, assigned.memory, hlo, module))
    except ProgramUnreadable as error:
        raise ProgramRefused("not_exportable", f"The compiled program could not be read: {error}") from None
    except (jax.errors.JaxRuntimeError, ValueError, NotImplementedError) as error:
        if (inside := failed_inside_xla(error)) is not None:
            raise inside from None
        # Report XLA's message without the name of its status.
        status, _, text = str(error).strip().partition(": ")
        out_of_memory = status == "RESOURCE_EXHAUSTED"
        said = text if status.isupper() else str(error).strip()
        raise ProgramRefused(
            "memory_limit" if out_of_memory else "error", f"The compiler says: {said[:1500]}"
        ) from None


def chip_facts(
    hlo: Module, assigned: Assigned, devices: int, axes: dict[str, int], chip: Chip, product_lines: Mapping[int, int]
) -> ChipFacts:
    """Read the facts of a program that was compiled for a slice.

    Args:
      product_lines: `ExportedProgram.product_lines`, which tells the lines of products that lost theirs.
    Raises:
      ProgramUnreadable: the program cannot be read.
    """
    flops = census_of(hlo, devices, axes).dot_flops
    schedule = read_schedule(hlo, devices, axes, chip, written=product_lines)
    return ChipFacts(
        memory=assigned.memory,
        peak_bytes=assigned.allocated_bytes,
        host_bytes=assigned.host_bytes,
        flops=flops,
        schedule=schedule,
        # The schedule has been read, so no computation calls itself.
        for_libraries=library_memory(hlo, assigned.temporaries),
    )


def _results_of(hlo: Module) -> list[tuple[int, ...]]:
    """The shape of each result on one device."""
    return [shape.dims for shape in leaves(hlo.entry.instructions[hlo.entry.root].shape)]


def _placement(
    shape: Sequence[int], given: jax.sharding.Sharding | None, held: tuple[int, ...], mesh: jax.sharding.Mesh
) -> tuple[NamedSharding, bool]:
    """The sharding of a result, and whether it is known.

    The compiler for GPUs does not say where it puts a result whose sharding the program does not set. What a device
    holds of each dimension shows it, unless several sets of axes have that size.
    """
    if isinstance(given, NamedSharding):
        return given, True
    free, spec = list(mesh.shape), []
    for size, part in zip(shape, held, strict=True):
        parts = size // part if part and size % part == 0 else 0
        fitting = [
            axes
            for number in range(len(free) + 1)
            for axes in itertools.combinations(free, number)
            if math.prod(mesh.shape[axis] for axis in axes) == parts
        ]
        if len(fitting) != 1:
            return NamedSharding(mesh, jax.P()), False
        free = [axis for axis in free if axis not in fitting[0]]
        spec.append(fitting[0] or None)
    while spec and spec[-1] is None:
        spec.pop()
    return NamedSharding(mesh, jax.P(*spec)), True


def _compiled_for_tpu(lowered: jax.stages.Lowered) -> tuple[Module, Assigned]:
    compiled = lowered.compile()
    analysis = compiled.memory_analysis()
    assert analysis is not None
    on_host = (
        analysis.host_argument_size_in_bytes
        + analysis.host_output_size_in_bytes
        + analysis.host_temp_size_in_bytes
        - analysis.host_alias_size_in_bytes
    )
    return read_compiled(compiled), Assigned(memory_of(analysis), analysis.peak_memory_in_bytes, on_host)


def _compiled_for_gpu(lowered: jax.stages.Lowered, options: Mapping[str, str] | None) -> tuple[Module, Assigned]:
    scheduled, assignment = schedule_for_gpu(lowered, for_compiler(options or {}))
    return read_text(scheduled), read_buffer_assignment(assignment)


def schedule_for_gpu(lowered: jax.stages.Lowered, flags: Mapping[str, str | bool] | None = None) -> tuple[str, str]:
    """Compile until the program is scheduled and its buffers are assigned. Return both as XLA writes them down.

    Machine code would need NVIDIA's assembler and its library of functions, so XLA ends with an error about them.

    Args:
      flags: more of XLA's options.
    """
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, str | bool] = {
            "xla_dump_to": folder,
            "xla_dump_hlo_as_text": True,
            "xla_backend_optimization_level": "0",
            # cuBLAS computes the products: without a GPU to try them on, XLA's own kernels do not fit every shape.
            "xla_gpu_enable_triton_gemm": False,
            **(flags or {}),
        }
        try:
            lowered.compile(compiler_options=options)
        except jax.errors.JaxRuntimeError:
            if not _written(folder, _ASSIGNMENT):
                raise
        return _written(folder, _SCHEDULED), _written(folder, _ASSIGNMENT)


def _written(folder: str, name: str) -> str:
    """The contents of the file that XLA wrote with this ending of its name; empty if there is none.

    Raises:
      ProgramUnreadable: there are several such files, and nothing says which one it is.
    """
    found = list(Path(folder).glob(f"*{name}"))
    if len(found) > 1:
        raise ProgramUnreadable(f"the compiler wrote {len(found)} programs instead of one")
    return found[0].read_text(encoding="utf-8", errors="replace") if found else ""


def devices_of(chip: Chip, topology: str, shape: tuple[int, ...], *, target: str | None = None) -> np.ndarray:
    """The devices of a slice in the order in which a mesh of this shape should have them.

    Args:
      target: XLA's target configuration of a GPU, instead of the one made from the figures of the chip.
    """
    if chip.gpu is None:
        slice_ = topologies.get_topology_desc(topology, platform="tpu")
        return topologies.make_mesh(slice_, shape, tuple(f"axis_{at}" for at in range(len(shape)))).devices
    target = target or _GPU_TARGET.format(**dataclasses.asdict(chip.gpu), memory=chip.hbm_bytes, title=chip.title)
    hosts, _, per_host = topology.partition(":")[2].rpartition("x")
    slice_ = topologies.get_topology_desc(platform="cuda", target_config=target, topology=f"1x{hosts or 1}x{per_host}")
    # Devices are ordered host by host, so the last mesh axes stay within a host as long as they fit.
    return np.array(slice_.devices).reshape(shape)
