"""Shapes in HLO text: `f32[8,64]{1,0:T(8,128)}` and tuples of shapes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from grader.program.tokens import Tokens, integer

# Bits of one element, https://github.com/openxla/xla/blob/main/xla/xla_data.proto (PrimitiveType)
_BITS = {
    "pred": 8, "token": 0, "opaque": 0,
    "s1": 1, "s2": 2, "s4": 4, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
    "f4e2m1fn": 4, "f8e3m4": 8, "f8e4m3": 8, "f8e4m3b11fnuz": 8, "f8e4m3fn": 8, "f8e4m3fnuz": 8, "f8e5m2": 8,
    "f8e5m2fnuz": 8, "f8e8m0fnu": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128,
}  # fmt: skip
DTYPES = frozenset(_BITS)
# No program needs more than 256 TiB, and numbers computed from a size must fit into JSON.
_MOST_BYTES = 2**48
_DEEPEST = 32
# The most dims of a shape. The product of more would take long to compute.
MOST_DIMS = 64
# The names of dtypes in JAX and in HLO.
HLO_NAMES = {
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "pred",
}  # fmt: skip
JAX_NAMES = {name: dtype for dtype, name in HLO_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Shape:
    """One array. `space` is the number of the memory that a chip's compiler keeps it in, 0 for its main memory."""

    dtype: str
    dims: tuple[int, ...]
    space: int = field(default=0, compare=False)

    @property
    def elements(self) -> int:
        return prod(self.dims)

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return _BITS[self.dtype]

    @property
    def bytes(self) -> int:
        """Bytes of the whole array; elements of fewer than 8 bits count as packed."""
        return -(-self.elements * self.bits // 8)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


ShapeTree: TypeAlias = "Shape | tuple[ShapeTree, ...]"


def leaves(tree: ShapeTree) -> Iterator[Shape]:
    """The arrays in a shape, from left to right."""
    if isinstance(tree, Shape):
        yield tree
    else:
        for child in tree:
            yield from leaves(child)


def read_shape(tokens: Tokens, at: int, depth: int = 0) -> tuple[ShapeTree, int]:
    """Read the shape that starts at token `at`. Return it and the index of the next token."""
    if tokens[at] != "(":
        return _array(tokens, at)
    if depth == _DEEPEST:
        raise tokens.error(at, f"tuples at most {_DEEPEST} deep")
    children: list[ShapeTree] = []
    end = tokens.partners[at]
    at += 1
    while at < end:
        child, at = read_shape(tokens, at, depth + 1)
        children.append(child)
        if tokens[at] == ",":
            at += 1
        elif at != end:
            raise tokens.error(at, "',' or ')'")
    return tuple(children), end + 1


def _array(tokens: Tokens, at: int) -> tuple[Shape, int]:
    dtype = tokens[at]
    if dtype not in _BITS:
        raise tokens.error(at, "a dtype, such as f32")
    if tokens[at + 1] != "[":
        raise tokens.error(at + 1, "'['")
    end = tokens.partners[at + 1]
    dims: list[int] = []
    at += 2
    while at < end:
        at += tokens[at] == "<="  # a bound of a dynamic dim, f32[<=8]: no array is larger
        size = integer(tokens[at])
        if size is None or size < 0:
            raise tokens.error(at, "the size of a dim")
        dims.append(size)
        at += 1
        if tokens[at] == ",":
            at += 1
        elif at != end:
            raise tokens.error(at, "',' or ']'")
    if len(dims) > MOST_DIMS:
        raise tokens.error(at, f"an array of at most {MOST_DIMS} dims")
    shape = Shape(dtype, tuple(dims))
    if prod(max(size, 1) for size in dims) * max(shape.bits, 1) > 8 * _MOST_BYTES:
        raise tokens.error(end, "an array of fewer bytes")
    at = end + 1
    if tokens[at] == "{" and _is_layout(tokens, at):
        end = tokens.partners[at]
        shape = Shape(dtype, shape.dims, _memory_space(tokens, at, end))
        at = end + 1
    return shape, at


def _memory_space(tokens: Tokens, at: int, end: int) -> int:
    """The number in `S(1)`, which a layout ends with."""
    if end - at > 4 and tokens[end - 4] == "S" and tokens[end - 3] == "(":
        return integer(tokens[end - 2]) or 0
    return 0


def _is_layout(tokens: Tokens, at: int) -> bool:
    """Distinguish `{1,0}` and `{:T(256)}` from the brace that opens a computation."""
    return tokens[at + 1] in {":", "}"} or integer(tokens[at + 1]) is not None
