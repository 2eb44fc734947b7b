"""Where each array inside a program lives: its form, its spec, and the line that computes it."""

from dataclasses import dataclass

MAX_ARRAYS = 600


@dataclass(frozen=True, slots=True)
class PlacedArray:
    """Arrays that are alike: results of the same operation at the same line, in the exported program.

    Attributes:
      line: the innermost line of the source that computes it.
      shape: of the whole array, or of a device's part inside a `shard_map`.
      spec: which axes split each dimension, as in `P('data', None)`.
      inside: the axes over which a `shard_map` around it runs by hand.
      bytes: of the part on one device.
      number: how many are alike.
    """

    line: int | None
    operation: str
    shape: tuple[int, ...]
    dtype: str
    spec: str
    inside: tuple[str, ...]
    bytes: int
    number: int


@dataclass(frozen=True, slots=True)
class PlacedArrays:
    """The arrays in program order. `left_out` counts those beyond the first 600."""

    arrays: tuple[PlacedArray, ...]
    left_out: int
