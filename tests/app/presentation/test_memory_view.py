"""The bytes of the inputs on each device: drawn beside a scale if devices differ, and in words in any case."""

from app.learning.explorer.examples import shipped_results
from app.presentation.memory_view import arrange_heat


def test_only_devices_that_differ_are_drawn_beside_a_scale() -> None:
    [even] = shipped_results()["tensor-parallel"].programs
    heat = arrange_heat(even)
    assert heat is not None
    assert (heat.drawing, heat.scale) == (None, None)
    assert heat.words == "4.5 MiB on each of the 8 devices, of 10.0 MiB in all"

    first, *others = even.leaves.leaves
    assert first.got is not None
    whole = tuple((0, length) for length in first.shape)
    uneven = first.model_copy(update={"got": [whole, *first.got[1:]]})
    leaves = even.leaves.model_copy(update={"leaves": [uneven, *others]})
    heat = arrange_heat(even.model_copy(update={"leaves": leaves}))
    assert heat is not None
    assert heat.drawing is not None
    assert [heat.drawing.count(f"cell heat-{look}") for look in range(5)] == [0, 0, 0, 7, 1]
    assert heat.scale is not None
    assert "up to 1.5 MiB, up to 3.0 MiB, up to 4.5 MiB, up to 6.0 MiB" in heat.scale
    assert "6.0 MiB on device 0, 4.5 MiB on devices 1 to 7" in heat.words
