"""REST responses of calculators."""

import math
from typing import Annotated

from pydantic import AliasPath, Field

from app.core.view import View
from app.learning.calculators.calculator import Calculator, Output, Value, Values
from app.learning.calculators.formulas.impossible_inputs import Outputs
from app.learning.calculators.measured_programs import comparisons_of
from app.learning.calculators.presets import PRESETS, Preset
from app.learning.calculators.units import short_text


class CalculatorSummary(View):
    name: str
    title: str
    summary: str
    page: str


class PresetJSON(View):
    """A model, a chip or a link. `values` are by the name of an input that several calculators have."""

    kind: str
    id: str
    title: str
    source: str
    values: dict[str, int | float]

    @classmethod
    def of_kind(cls, kind: str, preset: Preset) -> "PresetJSON":
        return cls.read_from(preset, kind=kind, values=dict(preset.fills))


class CalculatorList(View):
    calculators: list[CalculatorSummary]
    presets: list[PresetJSON]

    @classmethod
    def of(cls, calculators: tuple[Calculator, ...]) -> "CalculatorList":
        return cls(
            calculators=[CalculatorSummary.read_from(each, page=f"/calculators/{each.name}") for each in calculators],
            presets=[PresetJSON.of_kind(kind, each) for kind, rows in PRESETS.items() for each in rows],
        )


class ResultJSON(View):
    """One output. `value` is null if it is infinite."""

    name: str
    label: str
    unit: str
    formula: str
    value: int | float | None
    text: str

    @classmethod
    def with_value(cls, output: Output, value: int | float) -> "ResultJSON":
        return cls.read_from(output, value=value if math.isfinite(value) else None, text=short_text(value, output.unit))


class SourceJSON(View):
    title: str
    url: str


class ComparisonJSON(View):
    """One quantity of a compiled reference. `measured` equals `computed`, or with `bound` is at most that.

    `on_h100` is what the program for H100s has; null if that was not measured.
    """

    problem: Annotated[str, Field(validation_alias=AliasPath("reference", "name"))]
    mesh: Annotated[dict[str, int], Field(validation_alias=AliasPath("reference", "mesh"))]
    quantity: str
    formula: str
    computed: int
    measured: int
    on_h100: int | None
    bound: Annotated[bool, Field(validation_alias="is_bound")]


class CalculationJSON(View):
    """The inputs that were used, defaults among them, and what follows from them."""

    name: str
    inputs: dict[str, Value]
    outputs: list[ResultJSON]
    sources: list[SourceJSON]
    measured: list[ComparisonJSON]

    @classmethod
    def with_results(cls, calculator: Calculator, values: Values, results: Outputs) -> "CalculationJSON":
        return cls(
            name=calculator.name,
            inputs=dict(values),
            outputs=[ResultJSON.with_value(each, results[each.name]) for each in calculator.outputs],
            sources=[SourceJSON(title=each.title, url=each.href) for each in calculator.sources],
            measured=[ComparisonJSON.of(each) for each in comparisons_of(calculator.name)],
        )
