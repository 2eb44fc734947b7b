"""The accelerators that we can compile for from their description, without having one."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Literal

Platform = Literal["tpu", "gpu"]
# JAX's names of the platforms for which it lowers a program.
Lowering = Literal["tpu", "cuda"]
ChipName = Literal["h100", "h200", "a100", "b200", "v5e", "v5p", "v6e"]

# This folder is separate from the other packages, because JAX loads every plugin that it finds. `./meshgrade
# install-gpu` fills it.
GPU_FOLDER = Path(sys.prefix, "lib", "gpu-compiler")
_GPU_PACKAGE = "jax-cuda12-pjrt"


@dataclass(frozen=True, slots=True)
class GPU:
    """What XLA knows about a GPU when it compiles.

    Attributes:
      capability: the first number of the CUDA compute capability.
      cores: streaming multiprocessors.
      bandwidth: the bandwidth of the memory, in bytes per second.
    """

    capability: int
    cores: int
    bandwidth: int


@dataclass(frozen=True, slots=True)
class Torus:
    """The figures of a chip with which to estimate how long chips of a torus communicate.

    Attributes:
      sent_per_s: bytes that a chip sends in both directions of one dimension: the documented bidirectional bandwidth of
        a chip, divided by its number of ports.
      cycles_per_s: the documented peak of bfloat16, divided by the operations of the matrix units in one cycle.
    """

    sent_per_s: int
    cycles_per_s: int

    def cycles_to_send(self, kind: str, count: int, group_size: int) -> int:
        """The cycles that the links of one dimension need for a collective, if nothing else uses them.

        Args:
          kind: its HLO opcode. A permute sends in one direction only. All-to-all data passes a quarter of the ring on
            average: https://jax-ml.github.io/scaling-book/sharding/#our-final-communication-primitive-the-alltoall
          count: the bytes that a chip of a group of `group_size` sends.
        """
        cycles = count * self.cycles_per_s
        if kind == "collective-permute":
            return 2 * cycles // self.sent_per_s
        if kind.endswith("all-to-all"):
            return cycles * max(group_size, 4) // (4 * self.sent_per_s)
        return cycles // self.sent_per_s


@dataclass(frozen=True, slots=True)
class Chip:
    """One kind of accelerator.

    Attributes:
      hbm_bytes: the memory of one chip.
      shapes: number of devices -> the name of the slice with as many chips.
      links: the interconnects between the chips of one host, and between hosts.
      per_host: the number of chips that the first link joins.
      source: where its memory and slices are documented.
      gpu: None for a TPU, whose compiler knows it by name.
      torus: None if its links or its clock are not documented.
    """

    name: ChipName
    title: str
    hbm_bytes: int
    shapes: dict[int, str]
    links: tuple[str, str]
    per_host: int
    source: str
    gpu: GPU | None = None
    torus: Torus | None = None

    @property
    def platform(self) -> Platform:
        return "tpu" if self.gpu is None else "gpu"

    @property
    def lowering(self) -> Lowering:
        """The platform for which JAX lowers a program for this chip."""
        return "tpu" if self.gpu is None else "cuda"

    @property
    def one(self) -> str:
        """The chip with its article, such as `an H100` or `a TPU v5e chip`."""
        if self.gpu is None:
            return f"a {self.title} chip"
        return f"{'an' if self.title[0] in 'AH' else 'a'} {self.title}"

    @property
    def short(self) -> str:
        """The chip after `on the`, such as `H100` or `TPU`."""
        return "TPU" if self.gpu is None else self.title

    def topology(self, devices: int) -> str | None:
        """The name of a slice with this many chips, such as h100:8 or v5e:2x4; None if there is none."""
        shape = self.shapes.get(devices)
        return None if shape is None else f"{self.name}:{shape}"

    def link(self, groups: Iterable[Iterable[int]]) -> str:
        """The link that the slowest hop of a collective of these chips crosses. Chips are numbered host by host."""
        crosses = any(len({chip // self.per_host for chip in group}) > 1 for group in groups)
        return self.links[crosses]


_FLAT = {4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16"}
_CUBES = {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4", 128: "4x4x8", 256: "4x8x8"}
# Either the GPUs of one host, or the number of hosts and the GPUs of each.
_HOSTS = {2: "2", 4: "4", 8: "8", 16: "2x8", 32: "4x8", 64: "8x8", 128: "16x8", 256: "32x8"}
_GPUS_PER_HOST = 8
_MOST = max(_FLAT)
_ICI = ("ICI", "ICI")
_NVLINK = ("NVLink", "InfiniBand")
_TPUS = "https://docs.cloud.google.com/tpu/docs"
_GPUS = "https://www.nvidia.com/en-us/data-center"


def _gpu(name: ChipName, title: str, hbm_bytes: int, gpu: GPU, source: str) -> Chip:
    return Chip(name, title, hbm_bytes, _HOSTS, _NVLINK, _GPUS_PER_HOST, f"{_GPUS}/{source}/", gpu)


def _tpu(name: ChipName, title: str, hbm_bytes: int, shapes: dict[int, str], torus: Torus | None = None) -> Chip:
    return Chip(name, title, hbm_bytes, shapes, _ICI, _MOST, f"{_TPUS}/{name}", torus=torus)


def _torus(bandwidth: int, ports: int, flops: int, matrix_units: int, side: int = 128) -> Torus:
    """Compute a `Torus` from documented figures. In a cycle, a matrix unit multiplies and adds side x side pairs."""
    return Torus(bandwidth // ports, flops // (matrix_units * 2 * side**2))


CHIPS: dict[str, Chip] = {
    chip.name: chip
    for chip in (
        # Memory is what a device reports; for the H200 and B200, what the data sheet says.
        _gpu("h100", "H100", 84_929_347_584, GPU(9, 132, 3_352_320_000_000), "h100"),
        _gpu("h200", "H200", 141_000_000_000, GPU(9, 132, 4_800_000_000_000), "h200"),
        _gpu("a100", "A100", 42_900_000_000, GPU(8, 108, 1_555_000_000_000), "a100"),
        _gpu("b200", "B200", 191_500_000_000, GPU(10, 148, 8_000_000_000_000), "dgx-b200"),
        _tpu("v5e", "TPU v5e", 16 << 30, _FLAT, _torus(400 * 10**9, 4, 197 * 10**12, 4)),
        _tpu("v5p", "TPU v5p", 95 << 30, _CUBES, _torus(1200 * 10**9, 6, 459 * 10**12, 8)),
        # Google's documents say two matrix units, or four. libtpu's estimate for a product of 4,096 x 4,096 is 87 % of
        # what four can do in a cycle, and 174 % of what two can do.
        _tpu("v6e", "TPU v6e", 32 << 30, _FLAT, _torus(800 * 10**9, 4, 918 * 10**12, 4, 256)),
    )
}


def slice_of(topology: str) -> tuple[Chip, int]:
    """The chip and the number of devices of a slice such as h100:2x8 or v5e:2x4.

    Raises:
      ValueError: no slice has this name; the message lists those that exist.
    """
    name, _, shape = topology.partition(":")
    chip = CHIPS.get(name)
    if chip is None:
        examples = " or ".join(str(CHIPS[each].topology(8)) for each in ("h100", "v5e"))
        raise ValueError(f"there is no topology {topology!r}. Write it as {examples}, with one of {', '.join(CHIPS)}")
    devices = next((number for number, its_shape in chip.shapes.items() if its_shape == shape), None)
    if devices is None:
        raise ValueError(f"{chip.title} has no slice {shape!r} here. Use one of {', '.join(chip.shapes.values())}")
    return chip, devices


@cache
def compiler_of(platform: Platform) -> str | None:
    """The installed compiler and its version, such as `libtpu 0.0.42.1`; None if there is none for this platform.

    A process looks once, because every page of a problem offers chips. The compiler for GPUs must match the installed
    JAX, because both are built from one XLA.
    """
    try:
        if platform == "tpu":
            return f"libtpu {version('libtpu')}"
        found = [each.version for each in distributions(name=_GPU_PACKAGE, path=[str(GPU_FOLDER)])]
        return f"{_GPU_PACKAGE} {found[0]}" if found == [version("jaxlib")] else None
    except PackageNotFoundError:
        return None


def compilers() -> dict[Platform, str | None]:
    """Each platform's compiler, or None."""
    return {platform: compiler_of(platform) for platform in ("gpu", "tpu")}


def offered_chips() -> list[Chip]:
    """The chips whose compiler is installed."""
    there = compilers()
    return [each for each in CHIPS.values() if there[each.platform]]
