"""Strategies side by side: one network, one batch, one optimizer, and the compiled program of each."""

from dataclasses import dataclass

from markupsafe import Markup

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import ON_GPUS, REFERENCES, OnGPUs, Reference
from app.learning.calculators.state_drawing import draw_holdings
from app.presentation.drawings.bars import draw_bar, largest
from grader.verdicts.evidence import Amount

# Each with the problem whose reference it is, or with one of our own programs. These train the same network on the same
# batch with Adam.
_ALIKE = (
    ("Data parallel", "dp_step"),
    ("ZeRO-1", "zero1_opt_state"),
    ("ZeRO-2", "zero2"),
    ("FSDP, collectives by the compiler", "fsdp_auto_step"),
    ("FSDP, collectives by hand", "fsdp_shard_map_step"),
    ("FSDP with regather", "fsdp_regather"),
    ("HSDP", "hsdp_step"),
    ("Tensor parallel", "tp"),
    ("FSDP x TP", "fsdp_tp"),
    ("Pipeline x DP", "pipeline"),
)
# On a network of its own, and without a backward pass.
_OTHERS = (("Tensor parallel MLP, forward pass", "tp_column_row"), ("GPipe, forward pass", "gpipe_forward"))


@dataclass(frozen=True, slots=True)
class Row:
    strategy: str
    program: Reference

    @property
    def href(self) -> str:
        """The page with the source: of our own program, or of the problem."""
        name = self.program.name
        return f"/comparison/{name}" if name in OWN_PROGRAMS else f"/problems/{name}"

    @property
    def on_gpus(self) -> OnGPUs:
        return ON_GPUS[self.program.name, self.program.devices]

    @property
    def picture(self) -> Markup | None:
        """Who holds which part of the state."""
        return draw_holdings(self.program)

    @property
    def is_bound(self) -> bool:
        """Whether bytes sent and FLOPs are upper bounds."""
        own = OWN_PROGRAMS.get(self.program.name)
        return own is not None and own.is_bound


@dataclass(frozen=True, slots=True)
class Table:
    """The programs on meshes with this many devices."""

    devices: int
    rows: tuple[Row, ...]
    others: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """A strategy on some chips, with the bytes and the bar of each of QUANTITIES.

    `is_bound` marks bytes sent that are an upper bound.
    """

    strategy: str
    bars: tuple[tuple[int, Markup], ...]
    is_bound: bool


@dataclass(frozen=True, slots=True)
class ChipBars:
    """The strategies compiled for these chips, as `8 H100s`."""

    chips: str
    rows: tuple[Bars, ...]


QUANTITIES = ("State", "Memory", "Sent")


def bars_by_chips(compared: list[Table]) -> list[ChipBars]:
    """The bars of a quantity have one scale for all chips, so a switch between chips shows what changes."""
    found = [
        (f"{table.devices} {chips}", [(row, _bytes_of(row, on_gpus=on_gpus)) for row in table.rows])
        for chips, on_gpus in (("host CPUs", False), ("H100s", True))
        for table in compared
    ]
    longest = [
        largest([amounts[place] for _, rows in found for _, amounts in rows]) for place in range(len(QUANTITIES))
    ]
    return [
        ChipBars(
            chips,
            tuple(
                Bars(
                    row.strategy,
                    tuple((each.mine or 0, draw_bar(each, most)) for each, most in zip(amounts, longest, strict=True)),
                    row.is_bound,
                )
                for row, amounts in rows
            ),
        )
        for chips, rows in found
    ]


def _bytes_of(row: Row, *, on_gpus: bool) -> tuple[Amount, ...]:
    program = row.program
    memory = row.on_gpus.memory if on_gpus else program.arguments + program.temporaries
    sent = row.on_gpus.sent if on_gpus else program.sent
    return tuple(
        Amount(name=name, mine=value, reference=None, whole=None)
        for name, value in zip(QUANTITIES, (program.state, memory, sent), strict=True)
    )


def tables() -> list[Table]:
    return [Table(devices, _rows(_ALIKE, devices), _rows(_OTHERS, devices)) for devices in (8, 4)]


def _rows(strategies: tuple[tuple[str, str], ...], devices: int) -> tuple[Row, ...]:
    by_place = {(each.name, each.devices): each for each in REFERENCES}
    return tuple(Row(strategy, by_place[name, devices]) for strategy, name in strategies)
