"""The presets are what their shapes say, and fill in what the calculators have."""

import pytest

from app.learning.calculators.calculator import Number
from app.learning.calculators.presets import KINDS, PRESETS, values_with
from app.learning.calculators.query_inputs import as_query, read_inputs
from app.learning.calculators.tables import CALCULATORS


@pytest.mark.parametrize("preset", PRESETS["model"], ids=lambda each: each.id)
def test_a_model_has_as_many_parameters_as_its_shapes(preset):
    """Gated MLP, no biases, two norms a layer and one at the end, an embedding and a head of their own."""
    hidden, layers, heads, kv, mlp, vocabulary = (
        preset.shapes[each] for each in ("hidden", "layers", "heads", "kv_heads", "mlp", "vocabulary")
    )
    attention = 2 * hidden * hidden + 2 * hidden * (hidden // heads * kv)
    weights = layers * (attention + 3 * hidden * mlp) + vocabulary * hidden
    assert preset.fills["weights"] == weights
    assert preset.fills["parameters"] == weights + vocabulary * hidden + (2 * layers + 1) * hidden
    assert (preset.fills["hidden"], preset.fills["layers"], preset.fills["heads"]) == (hidden, layers, heads)


def test_every_preset_has_its_source_and_fills_something_in():
    assert {kind: len(rows) for kind, rows in PRESETS.items()} == {"model": 3, "chip": 6, "link": 7}
    assert PRESETS.keys() == KINDS.keys()
    fills = {each.fill for calculator in CALCULATORS for each in calculator.inputs if isinstance(each, Number)}
    for rows in PRESETS.values():
        assert len({each.id for each in rows}) == len(rows)
        for each in rows:
            assert each.source.startswith("https://")
            assert each.fills.keys() <= fills


@pytest.mark.parametrize("calculator", CALCULATORS, ids=lambda each: each.name)
def test_every_preset_can_be_calculated_with(calculator):
    for kind in calculator.presets:
        for preset in PRESETS[kind]:
            values = values_with(calculator, calculator.defaults, preset)
            reading = read_inputs(calculator, as_query(values))
            assert not any(fault.startswith("Enter") for fault in reading.faults.values()), (preset.id, reading.faults)
            assert reading.values == values
