"""Floating-point operations of matrix products and convolutions, two for each multiply and add."""

from dataclasses import dataclass
from math import prod

from grader.program.hlo import Computation, Instruction, Value, integers
from grader.program.shapes import Shape
from grader.program.tokens import ProgramUnreadable, shown, unquoted
from grader.program.walk import Site

_DOTS = {"dot", "ragged-dot", "scaled-dot"}
# Libraries that XLA may call for a matrix product: oneDNN on CPU, cuBLAS on GPU.
_LIBRARY_DOTS = ("$matmul", "$gemm", "$lt$matmul", "$lt$matmul$f8")
_LIBRARY_CONVOLUTIONS = ("__onednn$convolution", "__cudnn$conv")


@dataclass(frozen=True, slots=True)
class Dot:
    """A matrix product or convolution, at one of the places that it is called from. `flops` counts one execution.

    Attributes:
      executions: in one call of the program; None if the number is unknown.
      conditional: in a branch, so that `executions` is an upper bound.
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
    """Count the operations of the product at a site. Raises ProgramUnreadable if shapes and dimensions disagree."""
    instruction = site.instruction
    left, right = (_array(site.computation, instruction, index) for index in (0, 1))
    result = instruction.shape if isinstance(instruction.shape, Shape) else _first(instruction)
    return Dot(
        name=instruction.name,
        flops=2 * result.elements * _summed(instruction, left, right, result),
        executions=site.executions,
        operand_shapes=(left.dims, right.dims),
        result_shape=result.dims,
        loops=site.loops,
        conditional=site.conditional,
        source_line=source_line,
    )


def _summed(instruction: Instruction, left: Shape, right: Shape, result: Shape) -> int:
    """The number of products that are summed for one element of the result."""
    if instruction.opcode == "convolution" or _library_call(instruction).startswith(_LIBRARY_CONVOLUTIONS):
        return _summed_by_convolution(instruction, right)
    if instruction.opcode in _DOTS:
        dims = integers(instruction.attributes.get("lhs_contracting_dims", ()))
        if any(dim >= len(left.dims) for dim in dims):
            raise ProgramUnreadable(f"{shown(instruction.name)} contracts a dim that {left} lacks")
        return prod(left.dims[dim] for dim in dims)
    # [batch, m, k] times [batch, k, n]: the left operand has batch * m * k elements, transposed or not.
    columns = result.dims[-1] if result.dims else 1
    return left.elements * columns // result.elements if result.elements else 0


def _summed_by_convolution(instruction: Instruction, kernel: Shape) -> int:
    """Every element of the kernel that meets one output feature; as if the kernel never reached over the border.

    Source: HloCostAnalysis::HandleConvolution, https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
    """
    labels = "".join(instruction.attributes.get("dim_labels", ()))
    kernel_labels = labels.partition("->")[0].partition("_")[2]
    outputs = kernel_labels.find("o")
    if outputs < 0 or len(kernel_labels) != len(kernel.dims):
        raise ProgramUnreadable(f"{shown(instruction.name)} has dim_labels {shown(labels)} for a kernel {kernel}")
    return prod(size for dim, size in enumerate(kernel.dims) if dim != outputs)


def _library_call(instruction: Instruction) -> str:
    """The name of the library's function, or an empty string if it is not a product."""
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
    """The product itself: a library's function returns (result, scratch)."""
    shape = instruction.shape
    if isinstance(shape, Shape) or not shape or not isinstance(shape[0], Shape):
        raise ProgramUnreadable(f"{shown(instruction.name)} gives no array")
    return shape[0]
