"""The option `--chip` of `explore` and `inspect`: a chip, or a slice as the page and REST write it."""

from collections.abc import Collection
from typing import Any, cast

import typer

from app.core.start_errors import StartRefused
from grader.core.chips import CHIPS, ChipName, slice_of

CHIP: Any = typer.Option(
    "--chip",
    metavar="CHIP",
    help="Also compile it for as many chips: GPUs h100, h200, a100, b200, or TPUs v5e, v5p, v6e, or a slice as the "
    "page names it, such as h100:8. None is needed; run `./meshgrade install-gpu` or `install-tpu` first.",
)


def read_chip(text: str | None, devices: Collection[int]) -> ChipName | None:
    """Return the chip of `h100` or `h100:8`; None without the option.

    Each program is compiled for as many chips as its mesh has devices, so a slice must be that of one of the meshes.

    Args:
      devices: the number of devices of each mesh.
    Raises:
      StartRefused: there is no such chip or slice, or no mesh has as many devices.
    """
    if text is None or text in CHIPS:
        return cast(ChipName | None, text)
    try:
        chip, size = slice_of(text)
    except ValueError as error:
        raise StartRefused(f"--chip {text}: {error}", "A chip alone, such as h100, is compiled for the mesh.") from None
    if size not in devices:
        sizes = sorted(set(devices))
        has = "mesh has" if len(sizes) == 1 else "meshes have"
        raise StartRefused(
            f"--chip {text}: this slice has {size} chips, but the {has} {' and '.join(map(str, sizes))} devices",
            f"Write --chip {chip.name}. It is compiled for as many chips as the mesh has devices.",
        )
    return chip.name
