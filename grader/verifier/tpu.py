"""A verifier that compiles one exported program for a slice of TPUs, without a TPU. It runs nothing.

libtpu can compile for a topology by its description. It starts threads and installs signal handlers, so it is loaded
only in a separate process, which serves one program and then ends.
"""

import dataclasses
import os

import jax
from jax.experimental import topologies

from grader.core.wire import ArrayForm, Frame
from grader.program.census import census_of
from grader.program.memory import memory_of
from grader.program.schedule import read_schedule
from grader.program.strict_json import write
from grader.program.tokens import ProgramUnreadable
from grader.program.tpu import TPUFacts
from grader.runner.confine import limit_memory
from grader.runner.request_loop import Fields, answer_requests, refusal
from grader.verifier.errors import ProgramRefused
from grader.verifier.load import axis_kinds, lower, read_artifact, read_compiled

# Keep libtpu from looking for a TPU or a virtual machine's metadata server, and from locking a file to keep other
# processes off a TPU.
_ENVIRONMENT = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-8",
    "TPU_WORKER_HOSTNAMES": "localhost",
}


def serve(fd: int, *, max_payload_bytes: int) -> None:
    """Answer requests on `fd` until it is closed."""
    os.environ.update(_ENVIRONMENT)

    def answer(request: Fields, values: Fields) -> Frame:
        try:
            match request["op"]:
                case "begin":
                    limit_memory(request["data_bytes"], request["address_bytes"])
                case "compile_for":
                    artifact = values["artifact"].tobytes()
                    program = _compile(
                        artifact, request["topology"], request["mesh"], request["inputs"], request["state"]
                    )
                    return {"ok": True, "program": write(program)}, {}
            return {"ok": True}, {}
        except ProgramRefused as refused:
            return refusal(refused.reason, str(refused)), {}

    answer_requests(fd, {"ok": True, "devices": 1, "environment": {}}, answer, max_payload_bytes=max_payload_bytes)


def _compile(artifact: bytes, topology: str, axes: dict[str, int], inputs: list[ArrayForm], state: int) -> TPUFacts:
    exported, _, module = read_artifact(artifact, axes, inputs)
    if module.custom_calls:
        raise ProgramRefused("not_exportable", "It calls native code of the CPU, which a TPU does not have.")
    # Operations are the same on every platform, and the program has no custom calls, which would be the CPU's.
    exported = dataclasses.replace(exported, platforms=("tpu",))
    try:
        slice_ = topologies.get_topology_desc(topology, platform="tpu")
        mesh = topologies.make_mesh(slice_, tuple(axes.values()), tuple(axes))
        mesh = jax.sharding.Mesh(mesh.devices, tuple(axes), axis_types=axis_kinds(exported, axes))
        lowered, _, _ = lower(exported, mesh, state)
        compiled = lowered.compile()
        hlo = read_compiled(compiled)
        analysis = compiled.memory_analysis()
        assert analysis is not None
        return TPUFacts(
            memory=memory_of(analysis),
            peak_bytes=analysis.peak_memory_in_bytes,
            flops=census_of(hlo, exported.nr_devices, axes).dot_flops,
            schedule=read_schedule(hlo, exported.nr_devices, axes),
        )
    except ProgramUnreadable as error:
        raise ProgramRefused("not_exportable", f"The compiled program could not be read: {error}") from None
    except (jax.errors.JaxRuntimeError, ValueError, NotImplementedError) as error:
        # XLA's message, without the name of its status.
        status, _, text = str(error).strip().partition(": ")
        out_of_memory = status == "RESOURCE_EXHAUSTED"
        said = text if status.isupper() else str(error).strip()
        raise ProgramRefused(
            "memory_limit" if out_of_memory else "error", f"The compiler says: {said[:1500]}"
        ) from None
