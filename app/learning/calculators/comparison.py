"""Strategies side by side: one network, one batch, one optimizer, and the compiled program of each."""

from dataclasses import dataclass

from markupsafe import Markup

from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import ON_GPUS, REFERENCES, OnGPUs, Reference
from app.learning.calculators.state_drawing import draw_holdings

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


def tables() -> list[Table]:
    return [Table(devices, _rows(_ALIKE, devices), _rows(_OTHERS, devices)) for devices in (8, 4)]


def _rows(strategies: tuple[tuple[str, str], ...], devices: int) -> tuple[Row, ...]:
    by_place = {(each.name, each.devices): each for each in REFERENCES}
    return tuple(Row(strategy, by_place[name, devices]) for strategy, name in strategies)
