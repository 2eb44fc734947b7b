"""Find which received arrays an array contains, element by element, through operations that move, stack and sum them.

An array that a collective returned keeps its name while it is moved, cast or changed elementwise. It also keeps it in
a sum or a product over a dimension that it did not bring: if the sums of microbatches are stacked and added up, or an
update is a product of weights and stacked gradients, each of its elements is still in one element of the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from grader.program.hlo import Instruction, integers
from grader.program.shapes import Shape

Dims = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """The received arrays in an array: `arrays` is a set, of which bit n is array n.

    Attributes:
      new: for each dimension of the array the received arrays that did not bring it, because they were stacked along
        it. Empty if all brought all.
      few: the number of each received array that is there only in part, and how many of its elements are there.
    """

    arrays: int = 0
    new: tuple[int, ...] = ()
    few: tuple[tuple[int, int], ...] = ()

    def __or__(self, other: "Received") -> "Received":
        """Return what an elementwise result of both contains."""
        if self == other or not other.arrays:
            return self
        if not self.arrays:
            return other
        new: tuple[int, ...] = ()
        if self.new and other.new and len(self.new) == len(other.new):
            # An array that is in both brought a dimension if it brought it to one of them.
            pairs = zip(self.new, other.new, strict=True)
            new = tuple(one & two | one & ~other.arrays | two & ~self.arrays for one, two in pairs)
        elif self.new and not other.new:
            new = tuple(each & ~other.arrays for each in self.new)
        elif other.new and not self.new:
            new = tuple(each & ~self.arrays for each in other.new)
        return Received(self.arrays | other.arrays, _tidy(new), self._larger(other))

    def elements(self, number: int, sizes: Sequence[int]) -> int:
        """How many elements of a received array are there."""
        return dict(self.few).get(number, sizes[number]) if self.arrays >> number & 1 else 0

    def without_dims(self) -> "Received":
        """The received arrays in an array whose dimensions are not known."""
        return replace(self, new=())

    def beside(self, other: "Received", sizes: Sequence[int]) -> "Received":
        """Return what a concatenation of both contains. Parts of one received array add up. `sizes` are of all."""
        parts, others = dict(self.few), dict(other.few)
        both = self | other
        few = {**dict(both.few)}
        for number in parts.keys() & others.keys():
            few[number] = parts[number] + others[number]
        return replace(both, few=tuple(sorted((number, n) for number, n in few.items() if n < sizes[number])))

    def only(self, kept: int) -> "Received":
        """Drop the arrays that are not in the set `kept`."""
        if not self.arrays & ~kept:
            return self
        new = _tidy(tuple(each & kept for each in self.new))
        return Received(self.arrays & kept, new, tuple(each for each in self.few if kept >> each[0] & 1))

    def at_most(self, elements: int, sizes: Sequence[int]) -> "Received":
        """Limit how much of each received array is there to this number of elements."""
        few = dict(self.few)
        for number in _numbers(self.arrays):
            if elements < few.get(number, sizes[number]):
                few[number] = elements
        return replace(self, few=tuple(sorted(few.items())))

    def _larger(self, other: "Received") -> tuple[tuple[int, int], ...]:
        """Merge `few`: if an array is in both, its larger part counts."""
        if not self.few and not other.few:
            return ()
        mine, theirs = dict(self.few), dict(other.few)
        found = {}
        for number in mine.keys() | theirs.keys():
            here, there = self.arrays >> number & 1, other.arrays >> number & 1
            if here and there and not (number in mine and number in theirs):
                continue
            found[number] = max(mine.get(number, 0), theirs.get(number, 0))
        return tuple(sorted(found.items()))


NONE = Received()


def reshaped(received: Received, before: Dims, after: Dims) -> Received:
    """Follow through a reshape: a dimension of the result is new to an array if all that it is made of were."""
    if not received.new:
        return received
    if before == after:
        return received
    new = [0] * len(after)
    first, second = 0, 0
    while first < len(before) or second < len(after):
        # Take the shortest runs of dimensions that have as many elements on both sides.
        start, begin = first, second
        mine, theirs = 1, 1
        while first < len(before) and (mine == 1 or mine < theirs):
            mine *= before[first]
            first += 1
        while second < len(after) and (theirs == 1 or theirs < mine):
            theirs *= after[second]
            second += 1
        while first < len(before) and mine < theirs:
            mine *= before[first]
            first += 1
        if mine != theirs:
            return received.without_dims()
        wide = [received.new[dim] for dim in range(start, first) if before[dim] > 1]
        shared = wide[0] if wide else received.arrays
        for each in wide[1:]:
            shared &= each
        for dim in range(begin, second):
            new[dim] = shared
    return replace(received, new=_tidy(tuple(new)))


def transposed(received: Received, instruction: Instruction) -> Received:
    order = integers(instruction.attributes.get("dimensions", ()))
    if not received.new or sorted(order) != list(range(len(received.new))):
        return received.without_dims()
    return replace(received, new=_tidy(tuple(received.new[dim] for dim in order)))


def put_into(received: Received, piece: Dims, whole: Dims) -> Received:
    """Follow a row that becomes part of a larger array: its dimension of size 1 is new to what it contains."""
    if len(piece) != len(whole) or not received.arrays:
        return received
    before = received.new or (0,) * len(piece)
    new = (
        received.arrays if mine == 1 < theirs else kept for mine, theirs, kept in zip(piece, whole, before, strict=True)
    )
    return replace(received, new=_tidy(tuple(new)))


def summed(received: Received, instruction: Instruction, before: Dims) -> Received:
    """Follow through a sum over dimensions, which keeps the arrays that brought none of them."""
    gone = integers(instruction.attributes.get("dimensions", ()))
    return _without(received, [dim for dim in gone if dim < len(before)], before)


def contracted(instruction: Instruction, operands: Sequence[tuple[Received, Dims]]) -> Received:
    """Follow through a matrix product, if an element of a received array does not become several."""
    if instruction.opcode != "dot" or len(operands) != 2:
        return NONE
    found = NONE
    sides = []
    for (received, dims), side in zip(operands, ("lhs", "rhs"), strict=True):
        over, batch = (
            [dim for dim in integers(instruction.attributes.get(f"{side}_{name}_dims", ())) if dim < len(dims)]
            for name in ("contracting", "batch")
        )
        free = [dim for dim in range(len(dims)) if dim not in over and dim not in batch]
        sides.append((received, dims, over, batch, free))
    for number, (received, dims, over, batch, free) in enumerate(sides):
        _, other_dims, _, _, other_free = sides[1 - number]
        if not received.new or prod(other_dims[dim] for dim in other_free) > 1:
            continue
        kept = _without(received, over, dims)
        left = [*batch, *free] if number == 0 else [*batch, *([-1] * len(other_free)), *free]
        left += [-1] * len(other_free) if number == 0 else []
        new = tuple(kept.arrays if dim < 0 else received.new[dim] & kept.arrays for dim in left)
        found |= replace(kept, new=_tidy(new))
    return found


def _without(received: Received, gone: Sequence[int], before: Dims) -> Received:
    """Drop the dimensions `gone`, after a sum over them."""
    if len(received.new) != len(before):
        kept = received if all(before[dim] == 1 for dim in gone) else NONE
        return kept.without_dims()
    allowed = received.arrays
    for dim in gone:
        if before[dim] > 1:
            allowed &= received.new[dim]
    left = received.only(allowed)
    new = tuple(each & allowed for dim, each in enumerate(received.new) if dim not in gone)
    return replace(left, new=_tidy(new))


def dims_of(shape: object) -> Dims:
    return shape.dims if isinstance(shape, Shape) else ()


def _tidy(new: tuple[int, ...]) -> tuple[int, ...]:
    return new if any(new) else ()


def _numbers(arrays: int) -> list[int]:
    return [number for number in range(arrays.bit_length()) if arrays >> number & 1]
