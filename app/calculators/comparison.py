"""Strategies side by side: one network, one batch, one optimizer, and the compiled program of each."""

from dataclasses import dataclass

from app.calculators.measured import REFERENCES, Reference

# Each with the problem whose reference it is. These train the same network on the same batch with Adam.
_ALIKE = (
    ("Data parallel", "dp_step"),
    ("ZeRO-1", "zero1_opt_state"),
    ("FSDP, exchanged by the compiler", "fsdp_auto_step"),
    ("FSDP, exchanged by hand", "fsdp_shard_map_step"),
    ("HSDP", "hsdp_step"),
)
# On a network of its own, and without a backward pass.
_OTHERS = (("Tensor parallel MLP, forward pass", "tp_column_row"), ("GPipe, forward pass", "gpipe_forward"))


@dataclass(frozen=True, slots=True)
class Row:
    strategy: str
    program: Reference


@dataclass(frozen=True, slots=True)
class Table:
    """The programs on meshes of so many devices."""

    devices: int
    rows: tuple[Row, ...]
    others: tuple[Row, ...]


def tables() -> list[Table]:
    return [Table(devices, _rows(_ALIKE, devices), _rows(_OTHERS, devices)) for devices in (8, 4)]


def _rows(strategies: tuple[tuple[str, str], ...], devices: int) -> tuple[Row, ...]:
    by_place = {(each.problem, each.devices): each for each in REFERENCES}
    return tuple(Row(strategy, by_place[problem, devices]) for strategy, problem in strategies)
