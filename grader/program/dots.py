"""Count the FLOPs of matrix products and convolutions: two for each multiply-add."""

from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

from grader.program.data_graph import DataGraph
from grader.program.hlo import Computation, Instruction, Value, integers
from grader.program.padding import Extent, used_part, whole, without_padding
from grader.program.shapes import Shape
from grader.program.tokens import ProgramUnreadable, integer, shown, unquoted
from grader.program.walk import Site

_DOTS = {"dot", "ragged-dot", "scaled-dot"}
# Library calls that XLA makes for matrix products: oneDNN on CPU, cuBLAS on GPU.
_LIBRARY_DOTS = ("$matmul", "$gemm", "$lt$matmul", "$lt$matmul$f8")
# Those for convolutions begin with these, and so does one that only reorders a kernel.
_LIBRARY_CONVOLUTIONS, _REORDERING = ("__onednn$convolution", "__cudnn$conv"), "__cudnn$convReorder"
# Which of (first operand, second operand, result) are the input, the kernel and the output of the convolution that the
# window and the labels describe. cuDNN takes those of the forward convolution to compute its gradients.
_FORWARD, _BACKWARD_INPUT, _BACKWARD_KERNEL = (0, 1, 2), (2, 1, 0), (0, 2, 1)
_ROLES = {
    "__onednn$convolution": _FORWARD,
    "__cudnn$convForward": _FORWARD,
    "__cudnn$convForwardGraph": _FORWARD,
    "__cudnn$convBiasActivationForward": _FORWARD,
    "__cudnn$convBackwardInput": _BACKWARD_INPUT,
    "__cudnn$convBackwardFilter": _BACKWARD_KERNEL,
}
# Counting takes a step for each element of a kernel or of a result, whichever is smaller, along one dimension.
_MOST_TAPS = 2**20


@dataclass(frozen=True, slots=True)
class Dot:
    """A matrix product or convolution, at one of the places from which it is called. `flops` counts one execution.

    Attributes:
      executions: how often it runs in one call of the program; None if the number is unknown.
      conditional: whether it is in a branch, so that `executions` is an upper bound.
    """

    name: str
    flops: int
    executions: int | None
    operand_shapes: tuple[tuple[int, ...], ...]
    result_shape: tuple[int, ...]
    loops: tuple[str, ...]
    conditional: bool
    source_line: int | None


def is_dot(instruction: Instruction) -> bool:
    return instruction.opcode in _DOTS or instruction.opcode == "convolution" or bool(_library_call(instruction))


def read_dot(site: Site, source_line: int | None, graph: DataGraph) -> Dot:
    """Count the FLOPs of the product at a site.

    Args:
      graph: that of the module, which tells what XLA pads for a library.
    Raises:
      ProgramUnreadable: shapes and dimensions disagree, or the window of a convolution cannot be read.
    """
    instruction = site.instruction
    left, right = (_array(site.computation, instruction, index) for index in (0, 1))
    result = instruction.shape if isinstance(instruction.shape, Shape) else _first(instruction)
    return Dot(
        name=instruction.name,
        flops=_flops(site, left, right, result, graph),
        executions=site.executions,
        operand_shapes=(left.dims, right.dims),
        result_shape=result.dims,
        loops=site.loops,
        conditional=site.conditional,
        source_line=source_line,
    )


def _flops(site: Site, left: Shape, right: Shape, result: Shape, graph: DataGraph) -> int:
    instruction = site.instruction
    library = _library_call(instruction)
    if instruction.opcode == "convolution":
        arrays, roles = [whole(left), whole(right), whole(result)], _FORWARD
    elif library.startswith(_LIBRARY_CONVOLUTIONS):
        if library not in _ROLES:
            raise ProgramUnreadable(f"{shown(instruction.name)} calls {shown(library)}, an unknown kind of convolution")
        roles = _ROLES[library]
        arrays = _unpadded(site, (left, right, result), roles, graph)
    else:
        return 2 * result.elements * _summed(instruction, left, result)
    given, kernel, output = (arrays[role] for role in roles)
    return 2 * _products_of_convolution(instruction, given, kernel, output)


def _unpadded(
    site: Site, shapes: tuple[Shape, Shape, Shape], roles: tuple[int, int, int], graph: DataGraph
) -> list[list[Extent]]:
    """Each operand of a library's convolution and its result, except for what XLA pads."""
    computation, instruction = site.computation, site.instruction
    operands = [
        without_padding(graph, (computation, computation.operand(instruction, index)), shapes[index])
        for index in (0, 1)
    ]
    result = shapes[2]
    is_sliced = roles == _BACKWARD_INPUT
    return [*operands, used_part(graph, (computation, instruction), result) if is_sliced else whole(result)]


def _summed(instruction: Instruction, left: Shape, result: Shape) -> int:
    """The number of products that are summed for one element of the result."""
    if instruction.opcode in _DOTS:
        dims = integers(instruction.attributes.get("lhs_contracting_dims", ()))
        if any(dim >= len(left.dims) for dim in dims):
            raise ProgramUnreadable(f"{shown(instruction.name)} contracts a dim that {left} lacks")
        return prod(left.dims[dim] for dim in dims)
    # [batch, m, k] times [batch, k, n]: the left operand has batch * m * k elements, transposed or not.
    columns = result.dims[-1] if result.dims else 1
    return left.elements * columns // result.elements if result.elements else 0


def _products_of_convolution(
    instruction: Instruction, given: list[Extent], kernel: list[Extent], output: list[Extent]
) -> int:
    """Count the multiplications of elements that exist.

    Multiplications by padding, or by the holes of a dilated operand, do not count: the TPU compiler writes a batched
    matrix product as a convolution in which each element of the result meets one element of the window.

    Source: HloCostAnalysis::HandleConvolution, https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
    """
    name = shown(instruction.name)
    labels = "".join(instruction.attributes.get("dim_labels", ()))
    operands, _, of_output = labels.partition("->")
    of_given, _, of_kernel = operands.partition("_")
    pairs = ((of_given, given, "bf"), (of_kernel, kernel, "io"), (of_output, output, "bf"))
    windows = _windows(instruction, len(of_output) - 2)
    spatial = "".join(str(dim) for dim in range(len(windows)))
    if any(sorted(label) != sorted(spatial + two) or len(label) != len(dims) for label, dims, two in pairs):
        ranks = " and ".join(str(len(dims)) for _, dims, _ in pairs)
        raise ProgramUnreadable(f"{name} has dim_labels {shown(labels)} for arrays of {ranks} dims")
    elements, taps, results = ({dim: dims[label.index(dim)] for dim in label} for label, dims, _ in pairs)
    meetings = (
        _meetings(name, window, elements[dim], taps[dim], results[dim])
        for dim, window in zip(spatial, windows, strict=True)
    )
    # XLA pads the features of both operands, if at all.
    summed = min(taps["i"].size, elements["f"].size)
    return prod(meetings) * summed * results["b"].size * min(taps["o"].size, results["f"].size)


@dataclass(frozen=True, slots=True)
class _Window:
    """How a kernel moves along one dimension. `low` is the padding before the first element."""

    stride: int = 1
    low: int = 0
    lhs_dilate: int = 1
    rhs_dilate: int = 1
    rhs_reversal: int = 0


def _windows(instruction: Instruction, dims: int) -> list[_Window]:
    """Read `{size=2x8 stride=1x7 pad=0_0x1_-1 lhs_dilate=2x8}`, one window for each of `dims`."""
    words = instruction.attributes.get("window", ())
    starts = [at for at, word in enumerate(words) if word == "="]
    # A negative number is a token of its own.
    given = {words[at - 1]: "".join(words[at + 1 : end - 1]).split("x") for at, end in pairwise([*starts, len(words)])}

    def numbers(key: str, default: int, least: int) -> list[int]:
        texts = given.get(key, [str(default)] * dims)
        found = [integer(text.partition("_")[0]) for text in texts]
        if len(found) != dims or any(each is None or (key != "pad" and each < least) for each in found):
            raise ProgramUnreadable(f"{shown(instruction.name)} has a window that cannot be read")
        return [each for each in found if each is not None]

    numbers("size", 1, 1)
    keys = (("stride", 1, 1), ("pad", 0, 0), ("lhs_dilate", 1, 1), ("rhs_dilate", 1, 1), ("rhs_reversal", 0, 0))
    return [_Window(*each) for each in zip(*(numbers(*key) for key in keys), strict=True)]


def _meetings(name: str, window: _Window, elements: Extent, taps: Extent, results: Extent) -> int:
    """How many pairs of a kernel tap and a result element meet at an element of the input."""
    low = window.low + elements.before * window.lhs_dilate - results.before * window.stride
    low -= (taps.after if window.rhs_reversal else taps.before) * window.rhs_dilate
    of_taps, of_results = (taps.size, window.rhs_dilate * taps.step), (results.size, window.stride * results.step)
    # Taps and results change places in the sum of both. Count along the fewer ones.
    (few, shift), (many, stride) = sorted((of_taps, of_results))
    if few > _MOST_TAPS:
        raise ProgramUnreadable(f"{name} is a convolution of more than {_MOST_TAPS} by {_MOST_TAPS} elements")
    inner = _Window(stride, low, window.lhs_dilate * elements.step)
    return sum(_results_of_tap(inner, at * shift - low, elements.size, many) for at in range(few))


def _results_of_tap(window: _Window, shift: int, size: int, results: int) -> int:
    """How many results n there are for which `n * stride + shift` is an element of the dilated operand."""
    if size < 1:
        return 0
    stride, dilate = window.stride, window.lhs_dilate
    first, last = max(0, -(shift // stride)), min(results - 1, ((size - 1) * dilate - shift) // stride)
    if dilate == 1:
        return max(0, last - first + 1)
    # Solve n * stride = -shift modulo `dilate`.
    common = gcd(stride, dilate)
    if shift % common:
        return 0
    period = dilate // common
    place = (-shift // common) * pow(stride // common, -1, period) % period if period > 1 else 0
    first += (place - first) % period
    return max(0, (last - first) // period + 1)


def _library_call(instruction: Instruction) -> str:
    """The name of the library function; empty if it is not a product."""
    target: Value = instruction.attributes.get("custom_call_target", ())
    if instruction.opcode != "custom-call" or len(target) != 1:
        return ""
    name = unquoted(target[0])
    is_convolution = name.startswith(_LIBRARY_CONVOLUTIONS) and not name.startswith(_REORDERING)
    return name if name.endswith(_LIBRARY_DOTS) or is_convolution else ""


def _array(computation: Computation, instruction: Instruction, index: int) -> Shape:
    shape = computation.operand(instruction, index).shape
    if not isinstance(shape, Shape):
        raise ProgramUnreadable(f"operand {index} of {shown(instruction.name)} is a tuple")
    return shape


def _first(instruction: Instruction) -> Shape:
    """The shape of the product, because a library function returns (result, scratch)."""
    shape = instruction.shape
    if isinstance(shape, Shape) or not shape or not isinstance(shape[0], Shape):
        raise ProgramUnreadable(f"{shown(instruction.name)} gives no array")
    return shape[0]
