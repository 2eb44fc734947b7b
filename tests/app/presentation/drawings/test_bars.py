"""The bars of one table have one scale, and their numbers are in the table."""

import xml.etree.ElementTree as ElementTree

import pytest

from app.core.web.units import bytes_text, exact_text, flops_text
from app.presentation.drawings.bars import draw_bar, is_over, largest
from grader.verdicts.evidence import Amount


def _row(
    mine: int | None, reference: int | None = None, whole: int | None = None, at_most: int | None = None
) -> Amount:
    return Amount(name="state", mine=mine, reference=reference, whole=whole, at_most=at_most)


def _lengths(row: Amount, most: int) -> dict[str, float]:
    """By the second word of the class: `bar-mine`."""
    root = ElementTree.fromstring(draw_bar(row, most))
    return {rect.get("class", "").split()[1]: float(rect.get("width", "")) for rect in root.iter("rect")}


def test_lengths_are_proportional():
    row = _row(2048, 1024, 8192)
    lengths = _lengths(row, largest([row]))
    assert lengths == {"bar-mine": 75, "bar-reference": 37.5, "bar-whole": 300}


def test_rows_share_a_scale():
    rows = [_row(1000), _row(500)]
    first, second = (_lengths(row, largest(rows))["bar-mine"] for row in rows)
    assert first == 2 * second == 300


def test_zero_bytes_have_no_bar():
    row = _row(0, 0)
    assert _lengths(row, largest([row])) == {}


def test_a_little_beside_a_lot_stays_visible():
    rows = [_row(1), _row(10**400)]
    assert _lengths(rows[0], largest(rows)) == {"bar-mine": 1}
    assert _lengths(rows[1], largest(rows)) == {"bar-mine": 300}


def test_what_was_not_measured_is_not_drawn():
    assert largest([]) == largest([_row(None)]) == 0
    assert _lengths(_row(None), 0) == {}


@pytest.mark.parametrize(("mine", "over"), [(1024, False), (1025, True), (None, False)])
def test_more_than_the_bound_is_marked(mine, over):
    row = _row(mine, 1000, None, 1024)
    root = ElementTree.fromstring(draw_bar(row, largest([row])))
    assert is_over(row) == over
    assert any("is-outside" in rect.get("class", "") for rect in root.iter("rect")) == over
    assert any(path.get("class") == "limit" for path in root.iter("path"))


def test_units():
    assert [bytes_text(size) for size in (0, 1023, 1024, 1024**2 - 1, 1024**2, 10**18)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.0 MiB",
        "1.0 MiB",
        "888.2 PiB",
    ]
    assert [flops_text(count) for count in (999, 1_572_864, 2 * 10**12)] == ["999 FLOP", "1.6 MFLOP", "2.0 TFLOP"]
    assert exact_text(1_572_864) == "1,572,864"
    assert len({bytes_text(None), flops_text(None), exact_text(None)}) == 1
