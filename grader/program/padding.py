"""Tell the elements of an array from the zeros that XLA pads it with, because cuDNN cannot pad as a program may.

cuDNN pads both sides of a dimension alike, and does not dilate its input. For any other convolution, XLA pads the
operands beforehand, or lets the gradient of an input become larger and slices it.
"""

from dataclasses import dataclass

from grader.program.data_graph import DataGraph, Place
from grader.program.hlo import Computation, Instruction, integers
from grader.program.shapes import Shape
from grader.program.tokens import integer

# Farther away from a convolution, padding is not for it.
_MOST_STEPS = 64
# These keep the order of the elements.
_IN_ORDER = frozenset("bitcast convert copy".split())
_ENTERED = frozenset("fusion parameter tuple get-tuple-element".split())
_SPREADING = frozenset("broadcast convert copy reshape bitcast".split())
_ZEROS = {("0",), ("-", "0"), ("-0",)}


@dataclass(frozen=True, slots=True)
class Extent:
    """The elements of one dimension: those from `start` to before `end`. Element n is at `low + n * step`.

    Attributes:
      padded: the size of the dimension that they are in.
    """

    start: int
    end: int
    padded: int
    low: int = 0
    step: int = 1

    @property
    def size(self) -> int:
        return max(self.end - self.start, 0)

    @property
    def before(self) -> int:
        """The places before the first element."""
        return self.low + self.start * self.step

    @property
    def after(self) -> int:
        """The places after the last element."""
        return self.padded - 1 - self.low - (self.end - 1) * self.step

    def within(self, low: int, step: int, size: int) -> "Extent":
        """The elements of an array of this size, whose element n became element `low + n * step`."""
        start, end = max(0, -(-(self.start - low) // step)), min(size, (self.end - 1 - low) // step + 1)
        return Extent(start, end, self.padded, self.low + low * self.step, self.step * step)


def whole(shape: Shape) -> list[Extent]:
    """The dimensions of an array in which everything is an element."""
    return [Extent(0, size, size) for size in shape.dims]


def without_padding(graph: DataGraph, place: Place, shape: Shape) -> list[Extent]:
    """The elements of an operand of this shape, except for padding, by dimension."""
    extents = whole(shape)
    # For each dimension of the instruction at `place`, the one of the operand.
    dims: list[int | None] = list(range(len(extents)))
    element = 0
    for _ in range(_MOST_STEPS):
        computation, each = place
        if each.opcode in ("pad", "slice"):
            places = _places(computation, each)
            if places is None or len(places) != len(dims):
                break
            for dim, became in zip(dims, places, strict=True):
                if dim is not None:
                    extents[dim] = extents[dim].within(*became)
        elif each.opcode == "get-tuple-element":
            element = next(iter(integers(each.attributes.get("index", ()))), 0)
        elif each.opcode not in _ENTERED:
            order = _order(computation, each)
            if order is None or any(dim is not None and dim >= len(dims) for dim in order):
                break
            dims = [None if dim is None else dims[dim] for dim in order]
        source = _source(graph, place, element)
        if source is None:
            break
        place = source
    return extents


def used_part(graph: DataGraph, place: Place, shape: Shape) -> list[Extent]:
    """The part of a library call's first result, of this shape, that is used at all, by dimension."""
    slices: list[tuple[int, ...]] = []
    waiting = [place]
    for computation, each in waiting:
        if each.name == computation.root or len(waiting) > _MOST_STEPS:
            return whole(shape)
        for around, user in graph.used_by(computation, each):
            if user.opcode == "get-tuple-element":
                # The second result is scratch.
                if integers(user.attributes.get("index", ())) == (0,):
                    waiting.append((around, user))
            elif user.opcode == "slice":
                slices.append(integers(user.attributes.get("slice", ())))
            elif user.opcode == "fusion":
                waiting.extend(graph.parameters_of(user, each))
            elif _order(around, user) == list(range(len(shape.dims))):
                waiting.append((around, user))
            else:
                return whole(shape)
    dims = range(len(shape.dims))
    # Two numbers for each dimension; a slice with a step has three.
    if not slices or any(len(each) != 2 * len(dims) for each in slices):
        return whole(shape)
    starts = [min(each[2 * dim] for each in slices) for dim in dims]
    ends = [max(each[2 * dim + 1] for each in slices) for dim in dims]
    parts = list(zip(starts, ends, shape.dims, strict=True))
    if any(not 0 <= start <= end <= size for start, end, size in parts):
        return whole(shape)
    return [Extent(*part) for part in parts]


def is_zero(computation: Computation, name: str) -> bool:
    """Whether an instruction is the number zero, or an array of it."""
    found = computation.instructions.get(name)
    for _ in range(_MOST_STEPS):
        if found is None or found.opcode not in _SPREADING or len(found.operands) != 1:
            break
        found = computation.instructions.get(found.operands[0])
    return found is not None and found.opcode == "constant" and found.literal in _ZEROS


def _places(computation: Computation, each: Instruction) -> list[tuple[int, int, int]] | None:
    """For each dimension of what is padded or sliced: the place of its first element, the step to the next, its size.

    None if something else than zeros is put around, or if elements in between are left out.
    """
    operand = computation.operand(each, 0).shape
    if not isinstance(operand, Shape):
        return None
    if each.opcode == "slice":
        bounds = integers(each.attributes.get("slice", ()))
        starts = bounds[::2] if len(bounds) == 2 * len(operand.dims) else ()
        return [(-start, 1, size) for start, size in zip(starts, operand.dims, strict=True)] if starts else None
    if len(each.operands) != 2 or not is_zero(computation, each.operands[1]):
        return None
    # `1_2` is before and after, and `1_2_1` has one zero after each element but the last.
    words = "".join(each.attributes.get("padding", ())).split("x")
    amounts = [[integer(text) for text in (word if word.count("_") == 2 else f"{word}_0").split("_")] for word in words]
    known = [[number for number in each if number is not None] for each in amounts]
    if len(known) != len(operand.dims) or any(len(each) != 3 or each[2] < 0 for each in known):
        return None
    return [(low, holes + 1, size) for (low, _, holes), size in zip(known, operand.dims, strict=True)]


def _order(computation: Computation, each: Instruction) -> list[int | None] | None:
    """For each dimension of what an instruction moves, the one that it becomes; None for one of size 1.

    The whole is None if elements are not only moved.
    """
    if len(each.operands) != 1:
        return None
    before, after = computation.operand(each, 0).shape, each.shape
    if not isinstance(before, Shape) or not isinstance(after, Shape):
        return None
    if each.opcode == "transpose":
        order = integers(each.attributes.get("dimensions", ()))
        if sorted(order) != list(range(len(before.dims))) or len(after.dims) != len(order):
            return None
        return [order.index(dim) for dim in range(len(order))]
    if each.opcode not in _IN_ORDER:
        return None
    if before.dims == after.dims:
        return list(range(len(before.dims)))
    # XLA makes a bitcast of a transpose that only moves dimensions of size 1.
    kept = [[dim for dim, size in enumerate(shape.dims) if size != 1] for shape in (before, after)]
    if [before.dims[dim] for dim in kept[0]] != [after.dims[dim] for dim in kept[1]]:
        return None
    became = dict(zip(*kept, strict=True))
    return [became.get(dim) for dim in range(len(before.dims))]


def _source(graph: DataGraph, place: Place, element: int) -> Place | None:
    """What an instruction that passes on an array gets it from."""
    computation, each = place
    if each.opcode == "tuple":
        return (computation, computation.operand(each, element)) if element < len(each.operands) else None
    if each.opcode == "parameter" and len(graph.callers(computation)) != 1:
        return None
    # The root of a fusion, the operand that a parameter stands for, or the first operand.
    return next(graph.uses(*place), None)
