"""A program whose graph is too large to follow is measured without one."""

from types import SimpleNamespace
from typing import Any

import pytest

from grader.program.tokens import ProgramUnreadable
from grader.verifier import measure


def test_a_graph_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ProgramUnreadable("its steps take more than 500000 arrays")

    monkeypatch.setattr(measure, "build_graph", refuse)
    nothing: Any = SimpleNamespace(hlo=None, census=None)
    assert measure.graph_of(nothing, nothing) is None
