"""REST responses of calculators."""

import math
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.calculators.calculator import Calculator, Output, Value, Values
from app.calculators.formulas.impossible import Outputs
from app.calculators.measured import Comparison, comparisons_of
from app.calculators.presets import PRESETS, Preset
from app.calculators.units import short_text

_OUTPUT: dict[str, Any] = {
    "name": "state",
    "label": "State between steps",
    "unit": "bytes",
    "formula": "parameters + master + moments",
    "value": 11791830532,
    "text": "11 GiB",
}
_SOURCE: dict[str, Any] = {"title": "Rajbhandari et al., ZeRO, section 3", "url": "https://arxiv.org/abs/1910.02054"}
_COMPARISON: dict[str, Any] = {
    "problem": "fsdp_shard_map_step",
    "mesh": {"fsdp": 8},
    "quantity": "State between steps, bytes",
    "formula": "parameters + master + moments",
    "computed": 22600,
    "measured": 22600,
    "bound": False,
}
_SUMMARY: dict[str, Any] = {
    "name": "state",
    "title": "State per device",
    "summary": "Parameters, gradients and optimizer state that one device stores.",
    "page": "/calculators/state",
}
_PRESET: dict[str, Any] = {
    "kind": "chip",
    "id": "h100",
    "title": "H100 SXM",
    "source": "https://www.nvidia.com/en-us/data-center/h100/",
    "values": {"memory": 80, "peak": 989},
}


class CalculatorSummary(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SUMMARY]})

    name: str
    title: str
    summary: str
    page: str


class PresetJSON(BaseModel):
    """A model, a chip or a link. `values` are by the name of an input that several calculators have."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_PRESET]})

    kind: str
    id: str
    title: str
    source: str
    values: dict[str, int | float]

    @classmethod
    def of(cls, kind: str, preset: Preset) -> "PresetJSON":
        return cls(kind=kind, id=preset.id, title=preset.title, source=preset.source, values=dict(preset.fills))


class CalculatorList(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"calculators": [_SUMMARY], "presets": [_PRESET]}]}
    )

    calculators: list[CalculatorSummary]
    presets: list[PresetJSON]

    @classmethod
    def of(cls, calculators: tuple[Calculator, ...]) -> "CalculatorList":
        return cls(
            calculators=[
                CalculatorSummary(
                    name=each.name, title=each.title, summary=each.summary, page=f"/calculators/{each.name}"
                )
                for each in calculators
            ],
            presets=[PresetJSON.of(kind, each) for kind, rows in PRESETS.items() for each in rows],
        )


class ResultJSON(BaseModel):
    """One output. `value` is null if it grows without end."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_OUTPUT]})

    name: str
    label: str
    unit: str
    formula: str
    value: int | float | None
    text: str

    @classmethod
    def of(cls, output: Output, value: int | float) -> "ResultJSON":
        return cls(
            name=output.name,
            label=output.label,
            unit=output.unit,
            formula=output.formula,
            value=value if math.isfinite(value) else None,
            text=short_text(value, output.unit),
        )


class SourceJSON(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SOURCE]})

    title: str
    url: str


class ComparisonJSON(BaseModel):
    """One quantity of a compiled reference. `measured` equals `computed`, or with `bound` is at most that."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_COMPARISON]})

    problem: str
    mesh: dict[str, int]
    quantity: str
    formula: str
    computed: int
    measured: int
    bound: bool

    @classmethod
    def of(cls, comparison: Comparison) -> "ComparisonJSON":
        return cls(
            problem=comparison.reference.name,
            mesh=dict(comparison.reference.mesh),
            quantity=comparison.quantity,
            formula=comparison.formula,
            computed=comparison.computed,
            measured=comparison.measured,
            bound=comparison.is_bound,
        )


class CalculationJSON(BaseModel):
    """The inputs that were used, defaults among them, and what follows from them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "state",
                    "inputs": {"parameters": 6738415616, "strategy": "fsdp", "devices": 8},
                    "outputs": [_OUTPUT],
                    "sources": [_SOURCE],
                    "measured": [_COMPARISON],
                }
            ]
        },
    )

    name: str
    inputs: dict[str, Value]
    outputs: list[ResultJSON]
    sources: list[SourceJSON]
    measured: list[ComparisonJSON]

    @classmethod
    def of(cls, calculator: Calculator, values: Values, results: Outputs) -> "CalculationJSON":
        return cls(
            name=calculator.name,
            inputs=dict(values),
            outputs=[ResultJSON.of(each, results[each.name]) for each in calculator.outputs],
            sources=[SourceJSON(title=each.title, url=each.href) for each in calculator.sources],
            measured=[ComparisonJSON.of(each) for each in comparisons_of(calculator.name)],
        )
