"""A call of an entry point in call mode, without a process of its own."""

import itertools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from grader.core import wire
from grader.runner import serve
from grader.runner.observe import Observer
from grader.runner.submission import Submission
from grader.runner.tracing import aval_of, make_mesh

# Of shapes that nothing else in this process has, because a program that is compiled already is not compiled again.
ODD_SHAPES = itertools.count(1001)


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """The events of the compiler while a test runs."""
    events: list[str] = []

    def note(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if event.endswith("backend_compile_duration"):
            events.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield events
    jax.monitoring.unregister_event_duration_listener(note)


def test_the_fixture_sees_a_compilation(compiled: list[str]) -> None:
    jnp.asarray(np.ones(next(ODD_SHAPES), np.float32)) + 1
    assert compiled


@pytest.mark.parametrize("dtype", sorted(wire.DTYPES))
def test_inputs_are_placed_without_a_compilation(compiled: list[str], dtype: str) -> None:
    submission = Submission.load("def same(x, n):\n    return {'x': x, 'form': f'{x.aval} {n}'}\n", "same")
    given = np.ones((3, next(ODD_SHAPES)), wire.DTYPES[dtype])
    result = serve._call(submission, [given, 7], Observer())["result"]
    assert isinstance(result, dict)
    assert not compiled
    expected = jnp.asarray(given)
    assert result["form"] == f"{expected.aval} 7"
    assert result["x"].dtype == expected.dtype
    np.testing.assert_array_equal(result["x"], given)


def test_a_numpy_leaf_of_the_state_is_described_without_a_compilation(compiled: list[str]) -> None:
    leaf = np.ones(next(ODD_SHAPES), np.float32)
    assert aval_of(leaf, make_mesh({"x": 1})).shape == leaf.shape
    assert not compiled
