"""Numbers and text as a verdict shows them."""

import pytest

from grader.text import in_bytes


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (0.5, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1024 * 136.2, "136 KiB"),
        (1.5 * 2**20, "1.5 MiB"),
        (1020 * 2**20, "1,020 MiB"),
        (2**30, "1 GiB"),
        (2.25 * 2**40, "2.25 TiB"),
        (5000 * 2**40, "5,000 TiB"),
    ],
)
def test_bytes_have_three_digits_and_a_unit_that_fits(number: float, text: str) -> None:
    assert in_bytes(number) == text
