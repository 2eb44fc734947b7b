"""The TPUs that we can compile for without having one: libtpu compiles for a topology by its description."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

ChipName = Literal["v5e", "v5p", "v6e"]


@dataclass(frozen=True, slots=True)
class Chip:
    """One kind of TPU.

    Attributes:
      hbm_bytes: the memory of one chip.
      shapes: number of devices -> libtpu's name of the slice with as many chips.
      source: where its memory and slices are documented.
    """

    name: ChipName
    title: str
    hbm_bytes: int
    shapes: dict[int, str]
    source: str

    def topology(self, devices: int) -> str | None:
        """The name of a slice with this many chips, such as v5e:2x4; None if there is none."""
        shape = self.shapes.get(devices)
        return None if shape is None else f"{self.name}:{shape}"


_FLAT = {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16"}
_CUBES = {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4", 128: "4x4x8", 256: "4x8x8"}
_FLAT_EXAMPLE = f"v5e:{_FLAT[8]}"
_DOCUMENTED = "https://docs.cloud.google.com/tpu/docs"
CHIPS: dict[str, Chip] = {
    chip.name: chip
    for chip in (
        Chip("v5e", "TPU v5e", 16 << 30, _FLAT, f"{_DOCUMENTED}/v5e"),
        Chip("v5p", "TPU v5p", 95 << 30, _CUBES, f"{_DOCUMENTED}/v5p"),
        Chip("v6e", "TPU v6e", 32 << 30, _FLAT, f"{_DOCUMENTED}/v6e"),
    )
}


def slice_of(topology: str) -> tuple[Chip, int]:
    """The chip and the number of devices of a slice such as v5e:2x4.

    Raises:
      ValueError: no slice has this name; the message lists those that exist.
    """
    name, _, shape = topology.partition(":")
    chip = CHIPS.get(name)
    if chip is None:
        raise ValueError(f"there is no topology {topology!r}. Write it as {_FLAT_EXAMPLE}, with {', '.join(CHIPS)}")
    devices = next((number for number, its_shape in chip.shapes.items() if its_shape == shape), None)
    if devices is None:
        raise ValueError(f"{chip.title} has no slice {shape!r} here. Use one of {', '.join(chip.shapes.values())}")
    return chip, devices


def tpu_compiler() -> str | None:
    """The version of the installed libtpu; None if there is none, so that nothing can be compiled for a TPU."""
    try:
        return version("libtpu")
    except PackageNotFoundError:
        return None
