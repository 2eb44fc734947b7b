"""The sentences and tables of a chip's program."""

from app.presentation.chip_view import arrange_chip
from grader.explorer.exploration import ChipProgram


def program(**changes: object) -> ChipProgram:
    fields: dict[str, object] = {"topology": "h100:8", "compiler": "XLA", "hbm_bytes": 80 << 30, "flops": 0}
    fields |= {"argument_bytes": 4 << 20, "output_bytes": 4 << 20, "temporary_bytes": 1 << 20, "peak_bytes": 5 << 20}
    return ChipProgram.model_validate(fields | changes)


def test_the_memory_says_what_is_overwritten_in_place() -> None:
    said = (
        "At its peak, the program uses 5.0 MiB of a chip's 80.0 GiB, including 4.0 MiB for arguments and 1.0 MiB for "
    )
    work = "Matrix products on each chip: 0 FLOP."
    in_place = "4.0 MiB of the arguments are overwritten in place."
    assert arrange_chip(program(alias_bytes=4 << 20)).memory == f"{said}temporaries. {in_place} {work}"
    assert arrange_chip(program()).memory == f"{said}temporaries. {work}"
