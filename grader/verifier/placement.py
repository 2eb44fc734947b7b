"""Find where each array of an exported program lives, as Shardy decides before XLA partitions the program.

Source: https://openxla.org/shardy/propagation
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import sdy

from grader.confined import private_jax
from grader.core.item_sizes import LEAF_DTYPES, bytes_of
from grader.program.placed_arrays import MAX_ARRAYS, PlacedArray, PlacedArrays
from grader.program.shapes import JAX_NAMES
from grader.program.tokens import ProgramUnreadable

# For each dimension, the axes that split it, each with its number of parts.
_Spec: TypeAlias = list[tuple[tuple[str, int], ...]]
# The place of a call; the innermost call comes first.
_PLACE = re.compile(r'"([^"]*)":(\d{1,9}):')
_TYPE = re.compile(r"tensor<((?:\d+x)+)(\w+(?:<\w+>)?)>")
_MLIR_NAMES = (
    {"i1": "bool", **{f"i{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)}}
    | {f"ui{bits}": f"uint{bits}" for bits in (4, 8, 16, 32, 64)}
    | {"complex<f32>": "complex64", "complex<f64>": "complex128", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}
)
# The attributes with the shardings of most operations, of `sdy.reshard`, and of what a `shard_map` returns.
_SHARDINGS = ("sdy.sharding", "sharding", "out_shardings")
# Operations that only pass on arrays, give every device the same array, or need no memory once they are fused.
_PASSED_ON = {"func.func", "func.call", "stablehlo.while", "stablehlo.case", "stablehlo.if"}
_UNLISTED = _PASSED_ON | {"stablehlo.constant", "sdy.constant", "stablehlo.broadcast_in_dim", "stablehlo.iota"}
_MANUAL = "sdy.manual_computation"


def placed_arrays(text: str, axes: Mapping[str, int], source: str = "submission.py") -> PlacedArrays:
    """List the arrays of a program in StableHLO, without scalars and constants.

    Args:
      source: the name of the file that `line` refers to.
    Raises:
      ProgramUnreadable: Shardy refuses it, or it is nested too deep.
    """
    try:
        with private_jax.lowering_context():
            module = private_jax.propagated(text)
            defined = [each for each in module.body if each.operation.name == "func.func"]
            functions = {ir.StringAttr(each.attributes["sym_name"]).value: each for each in defined}
            found = Counter(_Reader(functions, axes, source).arrays_of(functions["main"], (), None))
    except (ir.MLIRError, RecursionError) as error:
        raise ProgramUnreadable(f"its shardings are unknown ({type(error).__name__})") from None
    arrays = [replace(each, number=number) for each, number in found.items()]
    return PlacedArrays(tuple(arrays[:MAX_ARRAYS]), max(0, len(arrays) - MAX_ARRAYS))


class _Reader:
    def __init__(self, functions: Mapping[str, ir.OpView], axes: Mapping[str, int], source: str) -> None:
        self._functions, self._axes, self._source = functions, axes, source
        self._seen: set[tuple[str, tuple[str, ...], int | None]] = set()

    def arrays_of(self, operation: ir.OpView, inside: tuple[str, ...], line: int | None) -> Iterator[PlacedArray]:
        """Yield the arrays that an operation and everything in it compute.

        Args:
          inside: see `PlacedArray`.
          line: that of the call, for operations in a function of JAX, which have none.
        """
        kind = operation.operation.name
        line = self._line_of(operation) or line
        if kind == "func.call":
            callee = (ir.FlatSymbolRefAttr(operation.attributes["callee"]).value, inside, line)
            if callee not in self._seen:
                self._seen.add(callee)
                yield from self.arrays_of(self._functions[callee[0]], inside, line)
        # The operations inside a reduction or a sort compute single elements.
        if kind in _PASSED_ON or kind == _MANUAL:
            within = (*inside, *_manual_axes(operation)) if kind == _MANUAL else inside
            for region in operation.regions:
                for block in region.blocks:
                    for each in block.operations:
                        yield from self.arrays_of(each, within, line)
        if kind not in _UNLISTED:
            yield from self._results_of(operation.operation, inside, line)

    def _results_of(self, operation: ir.Operation, inside: tuple[str, ...], line: int | None) -> Iterator[PlacedArray]:
        specs = self._specs_of(operation)
        for number, result in enumerate(operation.results):
            form = _TYPE.fullmatch(str(result.type))
            dtype = _dtype_of(form[2]) if form else None
            if form is None or dtype is None:
                continue
            shape = tuple(int(size) for size in form[1].split("x") if size)
            spec: _Spec = specs[number] if number < len(specs) else [()] * len(shape)
            parts = [math.prod(share for _, share in entry) for entry in spec]
            held = math.prod(-(-size // part) for size, part in zip(shape, parts, strict=True))
            yield PlacedArray(
                line=line,
                operation="shard_map" if operation.name == _MANUAL else operation.name.partition(".")[2],
                shape=shape,
                dtype=dtype,
                spec=_text_of(spec),
                inside=inside,
                bytes=bytes_of(held, dtype),
                number=1,
            )

    def _line_of(self, operation: ir.OpView) -> int | None:
        places = _PLACE.finditer(str(operation.location))
        return next((int(each[2]) for each in places if each[1] == self._source), None)

    def _specs_of(self, operation: ir.Operation) -> list[_Spec]:
        attribute = next((operation.attributes[name] for name in _SHARDINGS if name in operation.attributes), None)
        if attribute is None:
            return []
        if sdy.TensorShardingAttr.isinstance(attribute):
            return [self._spec(sdy.TensorShardingAttr(attribute))]
        shardings = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self._spec(sdy.TensorShardingAttr(each)) for each in shardings]

    def _spec(self, sharding: sdy.TensorShardingAttr) -> _Spec:
        return [
            tuple(self._share(sdy.AxisRefAttr(axis)) for axis in sdy.DimensionShardingAttr(dimension).axes)
            for dimension in sharding.dimension_shardings
        ]

    def _share(self, axis: sdy.AxisRefAttr) -> tuple[str, int]:
        whole = self._axes.get(axis.name, 1)
        if axis.sub_axis_info is None:
            return axis.name, whole
        parts = int(sdy.SubAxisInfoAttr(axis.sub_axis_info).size)
        share = "half" if 2 * parts == whole else f"{parts} of {whole}"
        return f"{share} of {axis.name}", parts


def _manual_axes(operation: ir.OpView) -> tuple[str, ...]:
    return tuple(re.findall(r'"(\w+)"', str(operation.operation.attributes["manual_axes"])))


def _dtype_of(name: str) -> str | None:
    dtype = _MLIR_NAMES.get(name) or JAX_NAMES.get(name)
    return dtype if dtype in LEAF_DTYPES else None


def _text_of(spec: _Spec) -> str:
    entries = [tuple(name for name, _ in entry) for entry in spec]
    while entries and not entries[-1]:
        entries.pop()
    texts = (repr(each[0]) if len(each) == 1 else repr(each) if each else "None" for each in entries)
    return f"P({', '.join(texts)})"
