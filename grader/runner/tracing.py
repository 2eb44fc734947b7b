"""Shared by all exports: meshes, abstract arrays, arguments, and the errors of functions that cannot be traced."""

import collections
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.extend
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.confined.artifact import SERIALIZED, SERIALIZED_FOR_GPUS, artifact_of
from grader.core.wire import Argument
from grader.runner.callback_partitioning import divided_exporter, is_partitioned_by_callbacks
from grader.runner.submission import Refusal, Submission, SubmissionFailed
from grader.runner.unexportable import ONLY_CUDNN, explained

# The dtypes of typed keys, and the generators that they belong to.
_KEYS = {"key<fry>": "threefry2x32", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}
_CONCRETE = (
    "A function is traced once, with shapes but no values, and what is examined is the compiled program. Python code "
    "in it must therefore not depend on a value."
)
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        jax.errors.TracerBoolConversionError,
        f"{_CONCRETE} Replace an `if` on a traced value with `jnp.where` or `jax.lax.cond`, and a `while` with "
        "`jax.lax.while_loop`.",
    ),
    Refusal(
        jax.errors.TracerArrayConversionError,
        f"{_CONCRETE} NumPy needs values: use the function of the same name in `jax.numpy`.",
    ),
    Refusal(
        jax.errors.TracerIntegerConversionError,
        f"{_CONCRETE} An index of a Python list, or a shape, must be a Python int: use `jnp.take`, or sizes from "
        "`.shape`.",
    ),
    Refusal(
        jax.errors.ConcretizationTypeError,
        f"{_CONCRETE} Remove `float(…)`, `int(…)` and `.item()`: use the array itself.",
    ),
    Refusal(
        jax.errors.UnexpectedTracerError,
        f"{_CONCRETE} A traced value was kept outside the function that created it: return it instead.",
    ),
    Refusal(RuntimeError, ONLY_CUDNN, "cuDNN is not detected"),
)


def make_mesh(axes: dict[str, int], explicit: Sequence[str] = ()) -> Mesh:
    """A mesh of the first devices, whose other axes are Auto."""
    devices = np.array(jax.devices()[: math.prod(axes.values())]).reshape(tuple(axes.values()))
    kinds = tuple(AxisType.Explicit if axis in explicit else AxisType.Auto for axis in axes)
    return Mesh(devices, tuple(axes), axis_types=kinds)


def aval_of(leaf: object, mesh: Mesh) -> jax.ShapeDtypeStruct:
    """The abstract array of a leaf. If it is not on the mesh, it has no sharding: the program chooses one."""
    array = leaf if isinstance(leaf, jax.Array) else jax.device_put(leaf)
    sharding = array.sharding
    placed = None
    if isinstance(sharding, NamedSharding) and sharding.mesh.devices.size == mesh.devices.size:
        same = sharding.mesh.axis_names == mesh.axis_names
        placed = NamedSharding(mesh, sharding.spec) if same else sharding
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=placed, weak_type=array.aval.weak_type)


def input_avals(args: Sequence[Argument], mesh: Mesh) -> Iterator[jax.ShapeDtypeStruct]:
    """The abstract arrays of the arguments that are not static."""
    for arg in args:
        if "static" not in arg:
            spec = P(*(tuple(dim) if isinstance(dim, list) else dim or None for dim in arg["spec"]))
            dtype = _dtype_of(arg["dtype"])
            yield jax.ShapeDtypeStruct(tuple(arg["shape"]), dtype, sharding=NamedSharding(mesh, spec))


def arguments_of(args: Sequence[Argument], values: Sequence[object]) -> list[object]:
    """The arguments of the entry point. Values whose paths have the same first name are leaves of one argument."""
    found: dict[object, Any] = {}
    for number, (arg, value) in enumerate(zip(args, values, strict=True)):
        first, *inside = arg.get("path", [number])
        if not inside:
            found[first] = value
            continue
        *branches, last = inside
        tree = found.setdefault(first, {})
        for branch in branches:
            tree = tree.setdefault(branch, {})
        tree[last] = value
    return [_with_lists(each) for each in found.values()]


def spec_text(spec: P) -> str:
    """Format a spec as a person writes it, as in `P('data', None)`."""
    return f"P({', '.join(map(repr, spec))})"


def serialize(
    jitted: jax.stages.Wrapped,
    avals: Sequence[jax.ShapeDtypeStruct],
    traced: jax.stages.Traced,
    platform: str = "cpu",
) -> bytes:
    """Export a traced program. Raises `SubmissionFailed` for what an export cannot contain, and JAX's errors."""

    def export() -> bytes:
        if platform == "cuda" and is_partitioned_by_callbacks(traced.jaxpr.jaxpr):
            return artifact_of(divided_exporter(jitted, traced)(*avals))
        checks = SERIALIZED_FOR_GPUS if platform == "cuda" else SERIALIZED
        return artifact_of(jax.export.export(jitted, platforms=[platform], disabled_checks=checks)(*avals))

    return explained(export, traced.jaxpr.jaxpr, for_cpus=platform == "cpu")


@dataclass(frozen=True, slots=True)
class ForChips:
    """A program as JAX lowers it for chips: for each platform the artifact, or the fault that explains its absence."""

    artifacts: dict[str, bytes]
    faults: dict[str, str]


def lowered_for(
    submission: Submission,
    jitted: jax.stages.Wrapped,
    avals: Sequence[jax.ShapeDtypeStruct],
    traced: jax.stages.Traced,
    lowerings: Sequence[str],
) -> ForChips:
    """Lower a traced program for each of these platforms. JAX can write it differently than for CPUs."""
    found = ForChips({}, {})
    for lowering in lowerings:
        export = partial(serialize, jitted, avals, traced, lowering)
        try:
            found.artifacts[lowering] = submission.guard(export, REFUSALS)
        except SubmissionFailed as failed:
            found.faults[lowering] = failed.message
    return found


def primitives_of(jaxpr: Jaxpr) -> collections.Counter[str]:
    """Count the equations of each primitive."""
    return collections.Counter(equation.primitive.name[:80] for equation in walk(jaxpr))


def walk(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """Yield every equation, including those of inner jaxprs."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            yield from walk(inner)


def _dtype_of(name: str) -> Any:
    kind = _KEYS.get(name)
    return name if kind is None else jax.eval_shape(lambda: jax.random.key(0, impl=kind)).dtype


def _with_lists(tree: object) -> object:
    """Convert each dict with the keys 0, 1, 2, … to a list."""
    if not isinstance(tree, dict):
        return tree
    if tree.keys() == {str(number) for number in range(len(tree))}:
        return [_with_lists(tree[str(number)]) for number in range(len(tree))]
    return {name: _with_lists(each) for name, each in tree.items()}
