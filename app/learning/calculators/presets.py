"""Models, chips and links whose numbers fill inputs in, from presets.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.learning.calculators.calculator import Calculator, Number, Value, Values

KINDS = {"model": "Models", "chip": "Chips", "link": "Links"}


@dataclass(frozen=True, slots=True)
class Preset:
    """`fills` has values by the `fill` of an input."""

    id: str
    title: str
    source: str
    fills: Mapping[str, int | float]
    shapes: Mapping[str, int]


def _read() -> dict[str, tuple[Preset, ...]]:
    raw = tomllib.loads((Path(__file__).parent / "presets.toml").read_text(encoding="utf-8"))
    return {
        kind: tuple(
            Preset(row["id"], row["title"], row["source"], row["fills"], row.get("shapes", {})) for row in raw[kind]
        )
        for kind in KINDS
    }


PRESETS = _read()


def values_with(calculator: Calculator, values: Values, preset: Preset) -> dict[str, Value]:
    """The values with those inputs replaced that the preset fills in."""
    known = {
        each.name: preset.fills[each.fill]
        for each in calculator.inputs
        if isinstance(each, Number) and each.fill in preset.fills
    }
    return {**values, **known}
