"""What two verdicts measured is compared in words, and what is equal is not listed."""

from app.core.web.units import NOTHING
from app.presentation.verdict_differences import differences_of_verdicts
from tests.browser.sample_work import verdicts_of_programs

_VERDICTS = verdicts_of_programs()


def _rows(old: str, new: str) -> dict[str, tuple[str, ...]]:
    found = differences_of_verdicts(_VERDICTS[old], _VERDICTS[new])
    return {row.cells[0].text: tuple(cell.text for cell in row.cells[1:]) for row in found.rows}


def test_checks_collectives_amounts_and_placements_that_differ_are_listed():
    """From a plain data-parallel step to an accepted FSDP step."""
    rows = _rows("real", "long")
    assert rows["Score"] == ("55 of 100", "100 of 100", "1.82 times")
    assert rows["Memory on each device"] == ("failed, 0 of 5 points", "passed, 5 of 5 points", NOTHING)
    assert rows["all-reduce over fsdp on fsdp = 8"] == ("1 executed, 103.0 KiB sent", "none", "less")
    assert rows["all-gather over fsdp on fsdp = 8"] == ("none", "6 executed, 51.5 KiB sent", "more")
    assert rows["Bytes on the fullest device, state, on fsdp = 8"] == ("176.5 KiB", "22.1 KiB", "0.125 times")
    assert rows["mu/dense1/bias and 17 more leaves, before the step, on fsdp = 8"] == ("P()", "P('fsdp')", NOTHING)
    # What is equal: the values, the batch and the matrix products.
    assert not any(name.startswith(("Every leaf", "Operations")) for name in rows)


def test_a_verdict_does_not_differ_from_itself():
    assert _rows("long", "long") == {}


def test_what_only_one_verdict_measured_is_not_compared():
    unmeasured = _VERDICTS["real"].model_copy(update={"checks": [], "score": 0})
    found = differences_of_verdicts(unmeasured, _VERDICTS["long"])
    assert [row.cells[0].text for row in found.rows] == ["Score"]
