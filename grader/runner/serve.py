"""The runner's loop: it serves one submission, one request at a time, until the judge closes the descriptor.

Before a submission, `warm` runs a package's public warmup.py and `begin` sets the limits on memory. Then `load` runs
the source as a module, before any input has arrived; `call` calls the entry point with one case's inputs; `export`
returns the program and the state of `init`; `two_steps` returns a program that calls the exported one twice; `states`
returns the states of more seeds; and `cases` gets the inputs from a package's cases.py. Alternatively, `execute` runs a
script, which only prints. No reply decides anything by itself: outside, the judge compares array bytes, and a verifier
compiles and runs the program.
"""

import dataclasses
import hashlib
import hmac
import itertools
import math
import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from grader.confined import private_jax
from grader.confined.confine import limit_memory
from grader.confined.request_loop import Fields, answer_requests, refusal
from grader.core import wire
from grader.runner import warm_up
from grader.runner.explored_export import ExportedFunction, export_function
from grader.runner.export import Exported, export_program
from grader.runner.observe import Observer
from grader.runner.own_meshes import OwnMeshes
from grader.runner.sharding_inspections import ShardingInspections
from grader.runner.submission import Submission, SubmissionFailed, run_script
from grader.runner.tracing import ForChips, make_mesh


def serve(fd: int, *, max_payload_bytes: int) -> None:
    """Answer requests on `fd` until it is closed. JAX's backend is up before the first reply says so."""
    observer = Observer()
    observer.install()
    runner = _Runner(observer, warm_up.start_backend())
    hello = {"ok": True, "devices": len(jax.devices()), "environment": _environment()}

    def answer(request: Fields, values: Fields) -> wire.Frame:
        reply: wire.Frame
        try:
            reply = {"ok": True}, runner.answer(request, values)
        except SubmissionFailed as fault:
            reply = refusal(fault.reason, fault.message, fault.detail), {}
        _flush()
        return reply

    answer_requests(fd, hello, answer, max_payload_bytes=max_payload_bytes)


class _Runner:
    """The state of the process: its spies, its compilation cache and, once loaded, its submission."""

    def __init__(self, observer: Observer, cache: warm_up.MemoryCache) -> None:
        self._observer = observer
        self._cache = cache
        self._submission: Submission | None = None
        self._exported: list[Exported] = []
        self._own_meshes = OwnMeshes()
        self._own_meshes.install()
        self._inspections = ShardingInspections()
        self._inspections.install()

    def answer(self, request: Fields, values: Fields) -> dict[str, object]:
        if "mesh" in request:
            # A source finds exactly as many devices as the mesh that it is exported for has.
            private_jax.show_devices(math.prod(request["mesh"].values()))
        match request["op"]:
            case "warm":
                entries = warm_up.warm(request["source"], self._cache, values["entries"])
                return {"entries": entries if request["collect"] else {}, "misses": self._cache.misses}
            case "begin":
                limit_memory(request["data_bytes"], request["address_bytes"])
            case "load":
                if request.get("devices"):
                    private_jax.show_devices(request["devices"])
                self._submission = Submission.load(request["source"], request["entry"], request.get("modules"))
                self._exported.clear()
            case "execute":
                run_script(request["source"])
            case "export" if self._submission is not None:
                self._observer.active = False
                self._exported.append(export_program(self._submission, request, self._own_meshes.made))
                return _export(self._exported[-1])
            case "export_function" if self._submission is not None:
                self._observer.active = False
                self._inspections.begin()
                exported = export_function(self._submission, request, self._own_meshes.made)
                remarks = [*exported.remarks, *self._inspections.remarks()]
                return _export_function(dataclasses.replace(exported, remarks=remarks))
            case "two_steps" if request["number"] < len(self._exported):
                text = self._exported[request["number"]].two_steps()
                return {"two_steps": np.frombuffer(text.encode(), np.uint8)}
            case "states" if request["number"] < len(self._exported):
                return {"states": self._exported[request["number"]].states_of(request["seeds"])}
            case "call" if self._submission is not None:
                args = _made_arguments(values["args"], request.get("made", ()))
                return _call(self._submission, args, self._observer)
            case "cases" if self._submission is not None:
                return {"cases": _cases(self._submission, request["key"])}
        return {}


def _environment() -> wire.Message:
    """The settings of this process that affect results, the same for references and submissions."""
    config: Any = jax.config
    return {
        "jax": jax.__version__,
        "devices": len(jax.devices()),
        "platform": jax.default_backend(),
        "x64": bool(config.jax_enable_x64),
        "matmul_precision": config.jax_default_matmul_precision or "default",
        "prng": str(config.jax_default_prng_impl),
    }


def _made_arguments(args: Sequence[object], made: Sequence[tuple[int, str]]) -> list[object]:
    """Return the arguments with PRNG keys made from seeds, and meshes made from the sizes of their axes."""
    found: list[Any] = list(args)
    for place, kind in made:
        found[place] = jax.random.key(found[place]) if kind == "key" else make_mesh(found[place])
    return found


def _call(submission: Submission, args: Sequence[object], observer: Observer) -> dict[str, object]:
    # `jnp.asarray` gives the same array, but compiles a copy of it for each shape and dtype.
    inputs = [jax.device_put(value) if isinstance(value, np.ndarray) else value for value in args]
    observer.begin()
    result = submission.call(inputs)
    # Reading the values is part of the call, because an asynchronous error appears only here.
    result = submission.guard(lambda: _to_host(result))
    return {"result": result, "observed": submission.guard(observer.collect)}


def _export(exported: Exported) -> dict[str, object]:
    return {
        "artifact": np.frombuffer(exported.artifact, np.uint8),
        "init": np.frombuffer(exported.init, np.uint8) if exported.init else None,
        "states": list(exported.states),
        "outputs": list(exported.outputs),
        **_for_chips(exported.for_chips),
    }


def _for_chips(lowered: ForChips) -> dict[str, object]:
    artifacts = {name: np.frombuffer(each, np.uint8) for name, each in lowered.artifacts.items()}
    return {"for_chips": artifacts, "chip_faults": dict(lowered.faults)}


def _export_function(exported: ExportedFunction) -> dict[str, object]:
    return {
        "artifact": np.frombuffer(exported.artifact, np.uint8),
        # Send two lists instead of a dict for each, because the number of parts of a reply is limited.
        "inputs": list(exported.inputs),
        "forms": [f"{aval.dtype}[{','.join(map(str, aval.shape))}]" for aval in exported.inputs.values()],
        "donated": exported.donated,
        "outputs": list(exported.outputs),
        "primitives": dict(exported.primitives),
        "retraced": exported.retraced,
        "remarks": list(exported.remarks),
        **_for_chips(exported.for_chips),
        "only_for_chips": exported.only_for_chips,
        "compiler_options": exported.compiler_options,
        "jaxpr": np.frombuffer(exported.jaxpr.encode("utf-8", "replace"), np.uint8),
    }


def _cases(submission: Submission, key: str | None) -> list[object]:
    """The public cases if `key` is None, or else hidden cases, each from its own seed, derived from the key."""
    if key is None:
        return list(itertools.islice(submission.call([]), wire.MAX_CASES + 1))  # type: ignore[call-overload]
    rng = np.random.default_rng(0)
    made = iter(submission.call([rng]))  # type: ignore[call-overload]
    cases: list[object] = []
    while len(cases) <= wire.MAX_CASES:
        seed = hmac.new(bytes.fromhex(key), f"case {len(cases)}".encode(), hashlib.sha256).digest()
        rng.bit_generator.state = np.random.PCG64(int.from_bytes(seed, "big")).state
        case = submission.guard(lambda: next(made, None))
        if case is None:
            break
        cases.append(case)
    return cases


def _to_host(value: object) -> object:
    """Convert a result to plain containers of NumPy arrays, so that nothing lazy is left in it."""
    if type(value) in (list, tuple):
        return type(value)(_to_host(item) for item in value)  # type: ignore[call-arg,attr-defined]
    if type(value) is dict:
        return {key: _to_host(item) for key, item in value.items()}
    return _leaf_to_host(value)


def _leaf_to_host(value: object) -> object:
    if isinstance(value, jax.core.Tracer):
        return wire.Foreign("a traced value that left its jit")
    if isinstance(value, jax.Array):
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            return wire.Foreign("a PRNG key array")
        return np.asarray(value)
    return value


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the submission may have replaced the stream, and loses only its own output
            continue
