"""The verifier's loop: it serves one program after another, until the judge closes the descriptor.

`begin` sets the limits on memory, `compile` takes an exported program and answers with the facts of its executable,
`run` runs that executable on inputs, and `second_step` takes a program that calls the exported one twice and answers
whether it is traced again. Only arrays and programs get in, never submitted Python.

A program that calls native kernels is compiled and run only if `compile` says that the verifier is `alone`: it serves
no other program. Otherwise the answer is `{"kernels": true}`, without facts. With `listing`, the answer also lists the
instructions of the executable and the exported operations, and has the program's graph.
"""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from grader.confined.artifact import artifact_of
from grader.confined.confine import limit_memory
from grader.confined.request_loop import Fields, answer_requests, refusal
from grader.core.wire import Frame, Message, Values
from grader.program import facts
from grader.program.listing import list_program
from grader.program.second_step import is_traced_again
from grader.program.stablehlo_listing import list_written
from grader.program.strict_json import write
from grader.program.tokens import ProgramUnreadable
from grader.verifier.element_types import check_runs
from grader.verifier.errors import OnlyOnChips, ProgramRefused, failed, failed_inside_xla
from grader.verifier.load import Loaded, NotAlone, load
from grader.verifier.measure import facts_of, graph_of, peak_of, run
from grader.verifier.placement import placed_arrays

# Source: https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_PERTURB = -6
_COMPLEMENT_OF_ZERO = 0xFF


def serve(fd: int, *, max_payload_bytes: int) -> None:
    """Answer requests on `fd` until it is closed. JAX's backend is up before the first reply says so."""
    _zero_fresh_memory()
    _rehearse()
    verifier = _Verifier()

    def answer(request: Fields, values: Fields) -> Frame:
        outputs: Values = {}
        try:
            return {"ok": True} | verifier.answer(request, values, outputs), outputs
        except ProgramRefused as refused:
            return refusal(refused.reason, str(refused), refused.detail), {}

    hello = {"ok": True, "devices": len(jax.devices()), "environment": {}}
    answer_requests(fd, hello, answer, max_payload_bytes=max_payload_bytes)


class _Verifier:
    """The program that was compiled last."""

    def __init__(self) -> None:
        self._loaded: Loaded | None = None

    def answer(self, request: Fields, values: Fields, outputs: Values) -> Message:
        match request["op"]:
            case "begin":
                limit_memory(request["data_bytes"], request["address_bytes"])
            case "compile":
                self._loaded = None
                # Drop the traces and executables of the previous program, because a verifier is long-lived.
                jax.clear_caches()
                return self._compile(request, values["artifact"].tobytes())
            case "run" if self._loaded is not None:
                check_runs(self._loaded.exported, self._loaded.hlo)
                try:
                    outputs["steps"] = run(self._loaded, values["state"], values["inputs"], request["steps"])
                except (jax.errors.JaxRuntimeError, ValueError, TypeError) as error:
                    raise failed("runs", error) from None
            case "second_step" if self._loaded is not None:
                return {"retraced": _is_traced_again(self._loaded, values["two_steps"].tobytes(), request["state"])}
        return {}

    def _compile(self, request: Fields, artifact: bytes) -> Message:
        try:
            self._loaded = load(artifact, request["mesh"], request["inputs"], request["state"], alone=request["alone"])
            found = facts_of(self._loaded)
            measured = {"facts": facts.to_json(found), "kernels": bool(self._loaded.kernels)}
            if request.get("listing"):
                measured["listing"] = write(list_program(self._loaded.hlo))
                measured["written"] = write(list_written(self._loaded.written))
                measured["arrays"] = write(placed_arrays(self._loaded.written, request["mesh"]))
                peak = peak_of(self._loaded)
                measured["peak"] = write(peak) if peak is not None else None
                graph = graph_of(self._loaded, found)
                measured["graph"] = write(graph) if graph is not None else None
            return measured
        except NotAlone:
            return {"facts": None, "kernels": True}
        except OnlyOnChips as refused:
            return {"facts": None, "kernels": False, "only_on_chips": str(refused)}
        except ProgramUnreadable as error:
            raise _unreadable(error) from None
        except (jax.errors.JaxRuntimeError, ValueError, NotImplementedError) as error:
            raise failed_inside_xla(error) or failed("is compiled", error) from None


def _is_traced_again(loaded: Loaded, two_steps: bytes, state: int) -> bool:
    try:
        # Compare the text as JAX wrote it; the compiled one has other channel numbers.
        return is_traced_again(loaded.received, two_steps.decode(), state)
    except ProgramUnreadable as error:
        raise _unreadable(error) from None
    except UnicodeDecodeError as error:
        raise failed("is compiled", error) from None


def _unreadable(error: ProgramUnreadable) -> ProgramRefused:
    return ProgramRefused("not_exportable", f"The compiled program could not be read: {error}")


def _zero_fresh_memory() -> None:
    """Make the C library's allocator fill new memory with zeros, and freed memory with ones.

    Then parts of a result that native code does not write contain no old data. This is only a second defence after the
    checks of operations and kernels, so a C library without this setting is fine.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_PERTURB, _COMPLEMENT_OF_ZERO)


def _rehearse() -> None:
    """Compile a small program, because a process's first compilation takes half a second longer."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rehearsal",))
    sharding = jax.sharding.NamedSharding(mesh, P("rehearsal"))
    rows = 8 * len(jax.devices())
    aval = jax.ShapeDtypeStruct((rows, 4), jnp.float32, sharding=sharding)

    def program(x: jax.Array) -> tuple[jax.Array]:
        total = jax.shard_map(
            lambda part: jax.lax.psum(part, "rehearsal"), mesh=mesh, in_specs=sharding.spec, out_specs=jax.P()
        )
        return (jnp.dot(x, jnp.sum(total(x)) * jnp.ones((4, 4))),)

    artifact = artifact_of(jax.export.export(jax.jit(program))(aval))
    loaded = load(artifact, {"rehearsal": len(jax.devices())}, [{"shape": [rows, 4], "dtype": "float32"}], 0)
    facts_of(loaded)
    run(loaded, [], [np.zeros((rows, 4), np.float32)], 1)
