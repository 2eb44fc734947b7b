"""What a program contains that `jax.export` cannot write down or a CPU cannot run, and what to write instead."""

from collections.abc import Callable, Container, Iterator
from typing import TypeVar

import jax.extend
from jax.extend.core import Jaxpr, JaxprEqn

from grader.confined import private_jax
from grader.runner.submission import FILENAME, SubmissionFailed, source_frame

T = TypeVar("T")
_CALLS_BACK = "The program calls back into Python (`{name}`), so it does not run on the devices alone. "
_ON_DEVICES = "The program must compute everything on the devices, with `jax.numpy` and `jax.lax`."
_REMOVE_PRINT = "Remove `jax.debug.print`; the page shows what you return."
ONLY_CUDNN = (
    'The program calls the attention of cuDNN, which only GPUs have. Leave out `implementation="cudnn"`: JAX then '
    "writes the attention with products and a softmax, which run everywhere."
)
# What only chips have.
_FAULTS_ON_CPUS = {
    "dot_product_attention_fwd_wrapper": ONLY_CUDNN,
    "dot_product_attention_fp8_fwd_wrapper": ONLY_CUDNN,
    "pallas_call": "The program has a Pallas kernel, which CPUs cannot run. Pass `interpret=True` to `pallas_call`, or "
    "call an implementation with `jax.numpy` instead.",
    "scaled_matmul_wrapper": "The program calls `jax.nn.scaled_matmul`, which only GPUs have. Multiply by the scales "
    "and use `jnp.matmul`.",
}
_FAULTS = {
    "pure_callback": _CALLS_BACK + _ON_DEVICES,
    "io_callback": _CALLS_BACK + _ON_DEVICES,
    "debug_callback": _CALLS_BACK + _REMOVE_PRINT,
    "debug_print": _CALLS_BACK + _REMOVE_PRINT,
    "inspect_sharding": "The program asks the compiler where an array lives, as `jax.debug.visualize_array_sharding` "
    "and `jax.debug.inspect_array_sharding` do, and the answer goes to Python. Remove it; the page shows where each "
    "leaf lives.",
    "custom_partitioning": "The program has a `custom_partitioning`, whose rules are Python functions that an exported "
    "program cannot contain. Divide the work yourself with `jax.shard_map`, or leave it to the partitioner.",
    "ffi_call": "The program calls a foreign function (`jax.ffi.ffi_call`), which is not part of the program. Write it "
    "with `jax.numpy` and `jax.lax`.",
}


def explained(export: Callable[[], T], jaxpr: Jaxpr, *, for_cpus: bool = True) -> T:
    """Export a traced program, and if that fails for something that it contains, say for what.

    Args:
      for_cpus: the program is exported for CPUs, which do not have everything that chips have.
    Raises:
      SubmissionFailed: `not_exportable`, with the line.
    """
    try:
        return export()
    except (NotImplementedError, ValueError) as error:
        faults = _FAULTS | _FAULTS_ON_CPUS if for_cpus else _FAULTS
        found = next(_faults(jaxpr, faults), None)
        if found is None:
            raise
        name = found[-1].primitive.name
        # A function that JAX traces once has no line of the source, but its caller does.
        frames = next(filter(None, map(_frames_of, reversed(found))), [])
        detail: dict[str, object] = {"type": type(error).__name__, "traceback": frames}
        raise SubmissionFailed("not_exportable", faults[name].format(name=name), detail) from None


def _faults(jaxpr: Jaxpr, names: Container[str]) -> Iterator[list[JaxprEqn]]:
    """Yield the equations at fault, each after those that contain it."""
    for equation in jaxpr.eqns:
        # An interpreted kernel is made of operations that a CPU has.
        if equation.primitive.name in names and not equation.params.get("interpret"):
            yield [equation]
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            for found in _faults(inner, names):
                yield [equation, *found]


def _frames_of(equation: JaxprEqn) -> list[dict[str, object]]:
    for frame in private_jax.user_frames(equation):
        if frame.file_name == FILENAME:
            return [source_frame(frame.start_line, frame.function_name)]
    return []
