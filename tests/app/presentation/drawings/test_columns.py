"""Columns of how many people did something."""

import pytest

from app.presentation.drawings.columns import draw_columns


@pytest.mark.parametrize(
    ("counts", "is_drawn"), [([("1", 3), ("2", 1)], False), ([("1", 3), ("2", 2)], True), ([], False)]
)
def test_fewer_than_five_people_are_not_drawn(counts, is_drawn):
    drawn = draw_columns(counts, "Attempts until solved", "people")
    assert (drawn is not None) == is_drawn
    if drawn:
        assert "<title>Attempts until solved, people: 1: 3, 2: 2.</title>" in drawn
