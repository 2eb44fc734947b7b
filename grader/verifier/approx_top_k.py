"""`jax.lax.approx_max_k` and `approx_min_k`: a custom call that XLA replaces by operations of its own.

On CPUs and GPUs the result is exact. On TPUs, XLA computes an approximation. It takes sizes from the options, so they
are checked against the shapes before XLA sees them.
"""

import math

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func, stablehlo

from grader.confined import private_jax
from grader.confined.artifact import APPROX_TOP_K
from grader.verifier.errors import ProgramRefused

# The attribute with the options, whose name depends on the release of JAX.
_OPTIONS = ("mhlo.backend_config", "backend_config")
_FALLBACK = "is_fallback"
_ATTRIBUTES = {*_OPTIONS, "api_version", "call_target_name", "called_computations"}
_DTYPES = {"bf16", "f16", "f32", "f64"}


def without_approximations(text: str, *, on_tpus: bool) -> str:
    """Replace every call of these in a module by a stable sort and slices, or on TPUs by an approximation.

    XLA's own replacement for CPUs sorts without being stable, and the comparison comes from the program
    (`grader.verifier.kernels`).

    Raises:
      ProgramRefused: `not_exportable`; one of them is not as JAX writes it, or has options that are not supported.
      Exception: of any type, because the module may be hostile.
    """
    with private_jax.lowering_context():
        module = ir.Module.parse(text)
        for call in _calls(module):
            if not _is_sound(call):
                raise ProgramRefused(
                    "not_exportable",
                    "The program calls `jax.lax.approx_max_k` or `approx_min_k` in a form that is not accepted here. "
                    "Call it with `aggregate_to_topk=True`, without `reduction_input_size_override`, and with a `k` "
                    "that is at most the size of the dimension.",
                )
            (_approximate if on_tpus else _sort)(call)
        module.operation.verify()
        return str(module.operation.get_asm(enable_debug_info=True))


def _approximate(call: ir.Operation) -> None:
    """Let XLA for TPUs approximate what JAX exported for CPUs."""
    for name in _OPTIONS:
        if name in call.attributes:
            options = _named(call.attributes[name])
            options.pop(_FALLBACK, None)
            call.attributes[name] = ir.DictAttr.get(options)


def _sort(call: ir.Operation) -> None:
    values, indices, *initial = call.operands
    [comparison] = ir.ArrayAttr(call.attributes["called_computations"])
    dimension = int(str(_options(call)["reduction_dim"]))
    with ir.InsertionPoint(call), call.location:
        kinds = [values.type, indices.type]
        ordered = stablehlo.SortOp(kinds, [values, indices], dimension=dimension, is_stable=True)
        pairs = [each.type for each in initial for _ in range(2)]
        block = ordered.comparator.blocks.append(*pairs, arg_locs=[call.location] * len(pairs))
        with ir.InsertionPoint(block):
            truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
            stablehlo.ReturnOp([func.CallOp([truth], ir.FlatSymbolRefAttr(comparison), list(block.arguments)).result])
        for old, whole in zip(call.results, ordered.results, strict=True):
            limits = list(ir.RankedTensorType(old.type).shape)
            old.replace_all_uses_with(stablehlo.SliceOp(whole, [0] * len(limits), limits, [1] * len(limits)).result)
    call.erase()


def _calls(module: ir.Module) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        is_call = operation.name == "stablehlo.custom_call"
        if is_call and ir.StringAttr(operation.attributes["call_target_name"]).value == APPROX_TOP_K:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _is_sound(call: ir.Operation) -> bool:
    """Whether it takes values, their numbers and two initial values, and returns k of each along one dimension."""
    if not _ATTRIBUTES.issuperset(call.attributes) or (len(call.operands), len(call.results)) != (4, 2):
        return False
    values, indices, *initial = (_array(each.type) for each in call.operands)
    kept, their_indices = (_array(each.type) for each in call.results)
    options = _options(call)
    if None in (values, indices, kept, their_indices, *initial):
        return False
    assert values is not None
    dims, dtype = values
    dimension, k = options.pop("reduction_dim", None), options.pop("top_k", None)
    recall = options.pop("recall_target", None)
    fits = (
        type(dimension) is int
        and type(k) is int
        and type(recall) is float
        and 0 <= dimension < len(dims)
        and 0 < k <= dims[dimension]
        and 0 < recall <= 1
        and math.isfinite(recall)
        and dtype in _DTYPES
        and options in ({"aggregate_to_topk": True, "reduction_input_size_override": -1} | each for each in _FALLBACKS)
    )
    if not fits:
        return False
    assert type(dimension) is int
    assert type(k) is int
    smaller = [*dims[:dimension], k, *dims[dimension + 1 :]]
    return (
        indices == (dims, "i32")
        and initial == [([], dtype), ([], "i32")]
        and (kept, their_indices) == ((smaller, dtype), (smaller, "i32"))
    )


_FALLBACKS: tuple[dict[str, object], ...] = ({}, {_FALLBACK: True})


def _array(kind: ir.Type) -> tuple[list[int], str] | None:
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        return None
    return list(kind.shape), str(kind.element_type)


def _options(call: ir.Operation) -> dict[str, object]:
    """The options; none if one of them is not a number or boolean."""
    found = [call.attributes[name] for name in _OPTIONS if name in call.attributes]
    if len(found) != 1 or not isinstance(found[0], ir.DictAttr):
        return {}
    options: dict[str, object] = {}
    for name, value in _named(found[0]).items():
        if not isinstance(value, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr)):
            return {}
        options[name] = value.value
    return options


def _named(attributes: ir.Attribute) -> dict[str, ir.Attribute]:
    pairs = ir.DictAttr(attributes)
    return {pairs[index].name: pairs[index].attr for index in range(len(pairs))}
