"""Export for GPUs what only they have, divided over the mesh as JAX divides it there.

JAX lowers the attention of cuDNN and products of scaled blocks to a `custom_partitioning`: XLA decides where the
arrays live, then calls JAX back, whose rule says what each device computes. An export contains no Python, so here the
same happens in two steps. The program is lowered once with the arrays marked, which shows where Shardy places them.
JAX's rule then divides each call for that placement, and the export contains the result, as if its author had written a
`jax.shard_map` around it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend
from jax.extend.core import Jaxpr
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import sdy, stablehlo
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.confined import private_jax
from grader.confined.artifact import SERIALIZED_FOR_GPUS
from grader.runner.submission import SubmissionFailed

# The beginnings of the primitives that JAX lowers in this way.
_PARTITIONED = ("dot_product_attention", "scaled_matmul_wrapper")
# The attribute that marks an array: the number of the call in the order of lowering, then that of the array.
_MARK = "meshgrade_array"


def divided_exporter(jitted: jax.stages.Wrapped, traced: jax.stages.Traced) -> Callable[..., jax.export.Exported]:
    """The exporter for CUDA of a function that was traced and is partitioned by callbacks.

    Raises:
      SubmissionFailed: `not_exportable`; Shardy places the arrays of one call in two ways, or JAX cannot divide it.
    """
    text = private_jax.text_with(_Marking(), traced, "cuda")
    return private_jax.exported_with(_Dividing(_placements(text)), jitted, "cuda", SERIALIZED_FOR_GPUS)


class _Marking:
    """Writes each array of a `custom_partitioning` as an operation of its own, so that Shardy notes its sharding."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, context: Any, *values: Any, **parameters: Any) -> Any:
        if private_jax.mesh_to_divide(context) is None:
            return private_jax.partition_by_callback(context, *values, **parameters)
        operands = [self._marked(value, place) for place, value in enumerate(values)]
        results = private_jax.partition_by_callback(context, *operands, **parameters)
        marked = [self._marked(value, place) for place, value in enumerate(results, len(values))]
        self._number += 1
        return marked

    def _marked(self, value: Any, place: int) -> Any:
        barrier = stablehlo.OptimizationBarrierOp([value])
        barrier.operation.attributes[_MARK] = ir.StringAttr.get(f"{self._number} {place}")
        return barrier.results[0]


class _Dividing:
    """Writes each `custom_partitioning` as what a device computes, given the specs of its operands and results."""

    def __init__(self, placements: Sequence[Sequence[P]]) -> None:
        self._placements = iter(placements)

    def __call__(self, context: Any, *values: Any, **parameters: Any) -> Any:
        mesh = private_jax.mesh_to_divide(context)
        if mesh is None:
            return private_jax.partition_by_callback(context, *values, **parameters)
        call = parameters["call"]
        placed = [
            jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=NamedSharding(mesh, spec))
            for each, spec in zip([*call.in_avals, *call.out_avals], next(self._placements), strict=True)
        ]
        operands = parameters["in_tree"].unflatten(placed[: len(values)])
        returned = parameters["out_tree"].unflatten(placed[len(values) :])
        try:
            # JAX's own rule, which XLA would call on a machine with GPUs.
            _, local, outputs, inputs = parameters["partition"](*parameters["static_args"], mesh, operands, returned)
        except ValueError as error:
            raise SubmissionFailed("not_exportable", str(error)) from None
        auto = AbstractMesh(mesh.axis_sizes, mesh.axis_names, axis_types=(AxisType.Auto,) * len(mesh.axis_names))
        divided = jax.shard_map(
            lambda *operands: tuple(jax.tree.leaves(local(*parameters["in_tree"].unflatten(operands)))),
            mesh=auto,
            in_specs=tuple(map(_spec, jax.tree.leaves(inputs))),
            out_specs=tuple(map(_spec, jax.tree.leaves(outputs))),
            check_vma=False,
        )

        def write(*operands: jax.Array) -> Sequence[object]:
            with jax.sharding.use_abstract_mesh(auto):
                return list(divided(*operands))

        return private_jax.write_function(context, write, values)


def is_partitioned_by_callbacks(jaxpr: Jaxpr) -> bool:
    """Whether a jaxpr contains the attention of cuDNN, or a product of scaled blocks."""
    return any(
        equation.primitive.name.startswith(_PARTITIONED)
        or any(map(is_partitioned_by_callbacks, jax.extend.core.jaxprs_in_params(equation.params)))
        for equation in jaxpr.eqns
    )


def _spec(sharding: NamedSharding) -> P:
    """The spec of a sharding, without the trailing dimensions that JAX's rule adds."""
    dimensions = list(sharding.spec)
    while dimensions and dimensions[-1] is None:
        dimensions.pop()
    return P(*dimensions)


def _placements(text: str) -> list[list[P]]:
    """Where Shardy places the marked arrays, by the number of the call."""
    found: dict[tuple[int, int], P] = {}

    def look(operation: ir.Operation) -> ir.WalkResult:
        if _MARK in operation.attributes:
            number, place = map(int, ir.StringAttr(operation.attributes[_MARK]).value.split())
            spec = _placed(operation)
            if found.setdefault((number, place), spec) != spec:
                raise SubmissionFailed(
                    "not_exportable",
                    "The program calls it twice with arrays that are divided differently, which is not supported here. "
                    "Put each call in a `jax.shard_map`.",
                )
        return ir.WalkResult.ADVANCE

    with private_jax.lowering_context():
        module = ir.Module.parse(text)
        # Shardy sees one function, as in XLA, which inlines calls before.
        _inline_calls(module)
        private_jax.propagated(str(module)).operation.walk(look)
    calls = sorted({number for number, _ in found})
    return [[found[each] for each in sorted(found) if each[0] == number] for number in calls]


def _placed(operation: ir.Operation) -> P:
    """The spec of the operation's result, with an entry for each dimension."""
    if "sdy.sharding" not in operation.attributes:
        return P(*(None,) * ir.RankedTensorType(operation.results[0].type).rank)
    [sharding] = sdy.TensorShardingPerValueAttr(operation.attributes["sdy.sharding"]).shardings
    dimensions = [
        [sdy.AxisRefAttr(axis) for axis in sdy.DimensionShardingAttr(each).axes]
        for each in sdy.TensorShardingAttr(sharding).dimension_shardings
    ]
    if any(axis.sub_axis_info is not None for axes in dimensions for axis in axes):
        raise SubmissionFailed(
            "not_exportable", "Shardy divides an array by a part of a mesh axis. Make two axes of it."
        )
    return P(*(tuple(axis.name for axis in axes) or None for axes in dimensions))


def _inline_calls(module: ir.Module) -> None:
    """Replace each call, in `main` and in what takes its place, by the operations of the called function."""
    defined = [each for each in module.body if each.operation.name == "func.func"]
    functions = {ir.StringAttr(each.attributes["sym_name"]).value: each for each in defined}
    calls: list[ir.Operation] = []

    def look(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "func.call":
            calls.append(operation)
        return ir.WalkResult.ADVANCE

    functions["main"].operation.walk(look)
    while calls:
        call = calls.pop()
        callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        copy = callee.operation.clone()
        block = copy.regions[0].blocks[0]
        for argument, value in zip(block.arguments, list(call.operands), strict=True):
            argument.replace_all_uses_with(value)
        *body, end = block.operations
        for each in body:
            each.operation.move_before(call)
            each.operation.walk(look)
        for result, value in zip(call.results, list(end.operation.operands), strict=True):
            result.replace_all_uses_with(value)
        call.erase()
        copy.erase()
