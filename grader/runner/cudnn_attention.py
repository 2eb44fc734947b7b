"""Export the attention of cuDNN for GPUs, divided over the mesh as JAX divides it there.

On a GPU, XLA decides where the operands live, then calls JAX back, whose rule says what each device computes. An export
contains no Python, so here the same happens in two steps. A first export with the operands marked shows where
Shardy places them. JAX's rule then divides each attention for that placement, and the second export contains the
result, as if its author had written a `jax.shard_map` around it.
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
from grader.confined.artifact import CUDNN_ATTENTION
from grader.runner.submission import SubmissionFailed

# The attribute that marks an operand: the number of the attention in the order of lowering, then that of the operand.
_MARK = "meshgrade_operand"
_CHECKS = tuple(map(jax.export.DisabledSafetyCheck.custom_call, sorted(CUDNN_ATTENTION)))


def divided_exporter(
    jitted: jax.stages.Wrapped, traced: jax.stages.Traced, checks: Sequence[jax.export.DisabledSafetyCheck]
) -> Callable[..., jax.export.Exported]:
    """The exporter for CUDA of a function that was traced and calls the attention of cuDNN.

    Raises:
      SubmissionFailed: `not_exportable`; Shardy places the operands of one attention in two ways.
    """
    text = private_jax.text_with(_Marking(), traced, "cuda")
    return private_jax.exported_with(_Dividing(_placements(text)), jitted, "cuda", (*checks, *_CHECKS))


class _Marking:
    """Writes each operand of a `custom_partitioning` as an operation of its own, so that Shardy notes its sharding."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, context: Any, *values: Any, **parameters: Any) -> Any:
        if private_jax.mesh_to_divide(context) is not None:
            marked = [stablehlo.OptimizationBarrierOp([value]) for value in values]
            for place, each in enumerate(marked):
                each.operation.attributes[_MARK] = ir.StringAttr.get(f"{self._number} {place}")
            self._number += 1
            values = tuple(each.results[0] for each in marked)
        return private_jax.partition_by_callback(context, *values, **parameters)


class _Dividing:
    """Writes each `custom_partitioning` as what a device computes, given the specs of its operands."""

    def __init__(self, placements: Sequence[Sequence[P]]) -> None:
        self._placements = iter(placements)

    def __call__(self, context: Any, *values: Any, **parameters: Any) -> Any:
        mesh = private_jax.mesh_to_divide(context)
        if mesh is None:
            return private_jax.partition_by_callback(context, *values, **parameters)
        call = parameters["call"]
        given = [
            jax.ShapeDtypeStruct(each.shape, each.dtype, sharding=NamedSharding(mesh, spec))
            for each, spec in zip(call.in_avals, next(self._placements), strict=True)
        ]
        results = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in call.out_avals]
        operands, returned = parameters["in_tree"].unflatten(given), parameters["out_tree"].unflatten(results)
        try:
            # JAX's own rule, which XLA would call on a machine with GPUs.
            _, local, outputs, inputs = parameters["partition"](*parameters["static_args"], mesh, operands, returned)
        except ValueError as error:
            raise SubmissionFailed("not_exportable", f"JAX cannot divide the attention of cuDNN: {error}") from None
        auto = AbstractMesh(mesh.axis_sizes, mesh.axis_names, axis_types=(AxisType.Auto,) * len(mesh.axis_names))
        divided = jax.shard_map(
            lambda *operands: tuple(local(*operands)),
            mesh=auto,
            in_specs=tuple(map(_spec, inputs)),
            out_specs=tuple(map(_spec, outputs)),
            check_vma=False,
        )

        def write(*operands: jax.Array) -> Sequence[object]:
            with jax.sharding.use_abstract_mesh(auto):
                return list(divided(*operands))

        return private_jax.write_function(context, write, values)


def calls_attention(jaxpr: Jaxpr) -> bool:
    """Whether the attention of cuDNN is in a jaxpr."""
    return any(
        equation.primitive.name.startswith("dot_product_attention")
        or any(map(calls_attention, jax.extend.core.jaxprs_in_params(equation.params)))
        for equation in jaxpr.eqns
    )


def _spec(sharding: NamedSharding) -> P:
    """The spec of a sharding, without the trailing dimensions that JAX's rule adds."""
    dimensions = list(sharding.spec)
    while dimensions and dimensions[-1] is None:
        dimensions.pop()
    return P(*dimensions)


def _placements(text: str) -> list[list[P]]:
    """Where Shardy places the marked operands, by the number of the attention."""
    found: dict[tuple[int, int], P] = {}

    def look(operation: ir.Operation) -> ir.WalkResult:
        if _MARK in operation.attributes:
            number, place = map(int, ir.StringAttr(operation.attributes[_MARK]).value.split())
            spec = _placed(operation)
            if found.setdefault((number, place), spec) != spec:
                raise SubmissionFailed(
                    "not_exportable",
                    "The program calls the attention of cuDNN twice with arrays that are divided differently, which "
                    "is not supported here. Put each call in a `jax.shard_map`.",
                )
        return ir.WalkResult.ADVANCE

    with private_jax.lowering_context():
        module = ir.Module.parse(text)
        # Shardy sees one function, as in XLA, which inlines calls before.
        _inline_calls(module)
        private_jax.propagated(str(module)).operation.walk(look)
    attentions = sorted({number for number, _ in found})
    return [[found[each] for each in sorted(found) if each[0] == number] for number in attentions]


def _placed(operation: ir.Operation) -> P:
    if "sdy.sharding" not in operation.attributes:
        return P()
    [sharding] = sdy.TensorShardingPerValueAttr(operation.attributes["sdy.sharding"]).shardings
    dimensions = [
        [sdy.AxisRefAttr(axis) for axis in sdy.DimensionShardingAttr(each).axes]
        for each in sdy.TensorShardingAttr(sharding).dimension_shardings
    ]
    if any(axis.sub_axis_info is not None for axes in dimensions for axis in axes):
        raise SubmissionFailed(
            "not_exportable", "Shardy divides an operand of cuDNN's attention by a part of a mesh axis. Use two axes."
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
