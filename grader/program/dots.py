"""Count the FLOPs of matrix products and convolutions: two for each multiply-add."""

from dataclasses import dataclass
from math import gcd, prod

from grader.program.hlo import Computation, Instruction, Value, integers
from grader.program.shapes import Shape
from grader.program.tokens import ProgramUnreadable, integer, shown, unquoted
from grader.program.walk import Site

_DOTS = {"dot", "ragged-dot", "scaled-dot"}
# Library calls that XLA makes for matrix products: oneDNN on CPU, cuBLAS on GPU.
_LIBRARY_DOTS = ("$matmul", "$gemm", "$lt$matmul", "$lt$matmul$f8")
_LIBRARY_CONVOLUTIONS = ("__onednn$convolution", "__cudnn$conv")


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


def read_dot(site: Site, source_line: int | None) -> Dot:
    """Count the FLOPs of the product at a site. Raises ProgramUnreadable if shapes and dimensions disagree."""
    instruction = site.instruction
    left, right = (_array(site.computation, instruction, index) for index in (0, 1))
    result = instruction.shape if isinstance(instruction.shape, Shape) else _first(instruction)
    return Dot(
        name=instruction.name,
        flops=_flops(instruction, left, right, result),
        executions=site.executions,
        operand_shapes=(left.dims, right.dims),
        result_shape=result.dims,
        loops=site.loops,
        conditional=site.conditional,
        source_line=source_line,
    )


def _flops(instruction: Instruction, left: Shape, right: Shape, result: Shape) -> int:
    if instruction.opcode == "convolution" or _library_call(instruction).startswith(_LIBRARY_CONVOLUTIONS):
        return 2 * _products_of_convolution(instruction, left, right, result)
    return 2 * result.elements * _summed(instruction, left, result)


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


def _products_of_convolution(instruction: Instruction, left: Shape, kernel: Shape, result: Shape) -> int:
    """Count the multiplications of elements that exist.

    Multiplications by padding, or by the holes of a dilated operand, do not count: the TPU compiler writes a batched
    matrix product as a convolution in which each element of the result meets one element of the window.

    Source: HloCostAnalysis::HandleConvolution, https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
    """
    name = shown(instruction.name)
    labels = "".join(instruction.attributes.get("dim_labels", ()))
    operands, _, of_result = labels.partition("->")
    of_left, _, of_kernel = operands.partition("_")
    pairs = ((of_left, left, "bf"), (of_kernel, kernel, "io"), (of_result, result, "bf"))
    windows = _windows(instruction, len(of_result) - 2)
    spatial = "".join(str(dim) for dim in range(len(windows)))
    if any(sorted(label) != sorted(spatial + two) or len(label) != len(shape.dims) for label, shape, two in pairs):
        raise ProgramUnreadable(f"{name} has dim_labels {shown(labels)} for {left} and {kernel}")
    sizes, taps, results = ({dim: shape.dims[label.index(dim)] for dim in label} for label, shape, _ in pairs)
    meetings = (
        _meetings(window, sizes[dim], taps[dim], results[dim]) for dim, window in zip(spatial, windows, strict=True)
    )
    return prod(meetings) * taps["i"] * results["b"] * results["f"]


@dataclass(frozen=True, slots=True)
class _Window:
    """How a kernel moves along one dimension. `low` is the padding before the first element."""

    stride: int = 1
    low: int = 0
    lhs_dilate: int = 1
    rhs_dilate: int = 1


def _windows(instruction: Instruction, dims: int) -> list[_Window]:
    """Read `{size=2x8 stride=1x7 pad=0_0x1_1 lhs_dilate=2x8}`, one window for each of `dims`."""
    words = instruction.attributes.get("window", ())
    given = {words[at - 1]: words[at + 1].split("x") for at in range(1, len(words) - 1) if words[at] == "="}

    def numbers(key: str, default: int) -> list[int]:
        texts = given.get(key, [str(default)] * dims)
        found = [integer(text.partition("_")[0]) for text in texts]
        if len(found) != dims or any(each is None or (key != "pad" and each < 1) for each in found):
            raise ProgramUnreadable(f"{shown(instruction.name)} has a window that cannot be read")
        return [each for each in found if each is not None]

    numbers("size", 1)
    keys = (("stride", 1), ("pad", 0), ("lhs_dilate", 1), ("rhs_dilate", 1))
    return [_Window(*each) for each in zip(*(numbers(key, default) for key, default in keys), strict=True)]


def _meetings(window: _Window, size: int, taps: int, results: int) -> int:
    """How many pairs of a kernel tap and a result element meet at an element of the operand."""
    return sum(_results_of_tap(window, tap * window.rhs_dilate - window.low, size, results) for tap in range(taps))


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
    return name if name.endswith(_LIBRARY_DOTS) or name.startswith(_LIBRARY_CONVOLUTIONS) else ""


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
