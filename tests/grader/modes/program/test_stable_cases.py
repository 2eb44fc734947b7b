"""Hidden cases whose result hangs on rounding are drawn again. Nothing is compiled here: `run` is a function of x."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.core.case import Case
from grader.modes.program.stable_cases import draw_steady, neighbours_of
from grader.modes.program.verify import Examined
from grader.package.package import Tolerance
from grader.program.measurement import Run

USUAL: dict[str, Tolerance] = {}
EXACT = {"float32": Tolerance(rtol=0.0, atol=0.0)}
KEY = "00"
# One unit whose input is the sum of x, which rounding alone moves to either side of zero.
TIED = np.array([1.0, 1e-3, -1.0, -1e-3], np.float32)
CLEAR = np.array([1.0, 0.5, -1.0, 0.25], np.float32)


def step_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The gradient of relu(sum(x)) for each x: ones or zeros."""
    return np.where(x.astype(np.float64).sum() > 0, np.ones(4), np.zeros(4)).astype(np.float32) * x


def examined(cases: tuple[Case, ...], result: Callable[[Any], Any] = step_of) -> Examined:
    runs = {case.id: Run({}, ({"grad": result(case.inputs["x"])},), ({},)) for case in cases}
    return Examined(cases, None, runs, {})  # type: ignore[arg-type]


def case_of(name: str, x: np.ndarray[Any, Any]) -> Case:
    return Case(name, name.startswith("public"), {"seed": 3, "x": x})


def test_a_case_at_the_point_where_a_unit_switches_is_drawn_again_alone() -> None:
    drawn = {KEY: (TIED, CLEAR)}
    keys: list[str] = []

    def draw(key: str) -> tuple[Case, ...]:
        keys.append(key)
        first, second = drawn.get(key, (CLEAR * 2, CLEAR * 3))
        return case_of("public-1", TIED), case_of("hidden-1", first), case_of("hidden-2", second)

    cases, found = draw_steady(draw, lambda cases: (examined(cases), examined(cases[::-1])), KEY, USUAL)
    assert [case.id for case in cases] == ["public-1", "hidden-1", "hidden-2"]
    for case, x in zip(cases, (TIED, CLEAR * 2, CLEAR), strict=True):
        np.testing.assert_array_equal(case.inputs["x"], x)  # type: ignore[arg-type]
    assert len(set(keys)) == 2
    # Neighbours are neither kept nor graded.
    assert [set(each.runs) for each in found] == [{"public-1", "hidden-1", "hidden-2"}] * 2
    assert [len(each.cases) for each in found] == [3, 3]
    np.testing.assert_array_equal(found[0].runs["hidden-1"].steps[0]["grad"], CLEAR * 2)


def test_a_case_that_is_never_steady_stays_and_the_log_names_it(caplog: pytest.LogCaptureFixture) -> None:
    keys: list[str] = []

    def draw(key: str) -> tuple[Case, ...]:
        keys.append(key)
        return (case_of("hidden-1", TIED),)

    with caplog.at_level(logging.WARNING):
        cases, _ = draw_steady(draw, lambda cases: (examined(cases),), KEY, USUAL)
    np.testing.assert_array_equal(cases[0].inputs["x"], TIED)  # type: ignore[arg-type]
    assert len(keys) == 4
    assert "hidden-1" in caplog.text


def test_a_steady_case_is_drawn_once() -> None:
    draws: list[str] = []

    def draw(key: str) -> tuple[Case, ...]:
        draws.append(key)
        return (case_of("hidden-1", CLEAR),)

    draw_steady(draw, lambda cases: (examined(cases),), KEY, USUAL)
    assert draws == [KEY]


def test_neighbours_differ_by_rounding_in_pairs() -> None:
    x = np.array([[1.0, -2e5, 0.0], [3e-7, 7.0, 1e30]], np.float32)
    given = Case("hidden-4", False, {"seed": 1, "x": x, "labels": np.arange(3, dtype=np.int32), "lr": 0.1})
    found = neighbours_of(given, USUAL)
    assert [each.id for each in found] == [f"hidden-4~{number}" for number in range(1, 9)]
    for each in found:
        assert not each.public
        assert list(each.inputs) == list(given.inputs)
        assert each.inputs["labels"] is given.inputs["labels"]
        moved = each.inputs["x"]
        assert isinstance(moved, np.ndarray)
        assert moved.dtype == np.float32
        assert moved[0, 2] == 0
        assert (moved != x).sum() >= 4
        np.testing.assert_allclose(moved, x, rtol=5 * np.finfo(np.float32).eps, atol=0)
    up, down = (np.asarray(each.inputs["x"], np.float64) - x for each in found[:2])
    np.testing.assert_allclose(up, -down, rtol=0, atol=np.abs(x).max() * 1e-7)
    assert np.sign(up[0, 0]) == -np.sign(down[0, 0])


@pytest.mark.parametrize(
    ("x", "tolerances"),
    [
        (np.arange(4, dtype=np.int32), USUAL),
        (CLEAR, EXACT),
        (CLEAR, {"float32": Tolerance(rtol=15 * 2.0**-23, atol=1.0)}),
        (CLEAR.astype(np.float16), USUAL),
    ],
)
def test_where_results_must_be_exact_there_are_no_neighbours(
    x: np.ndarray[Any, Any], tolerances: dict[str, Tolerance]
) -> None:
    assert neighbours_of(case_of("hidden-1", x), tolerances) == ()
    assert neighbours_of(case_of("hidden-1", CLEAR), {"float32": Tolerance(rtol=16 * 2.0**-23, atol=0.0)})
