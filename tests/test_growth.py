"""Work that grows faster than the text is found, in Python and in C."""

import re

import pytest

from tests.growth import assert_linear, assert_linear_in_c, steps


def _letters(size: int) -> str:
    return "a" * size


def test_steps_are_the_same_each_time():
    def read(text: str) -> None:
        for _ in text:
            pass

    assert steps(read, "a" * 100) == steps(read, "a" * 100) >= 200


def test_what_reads_once_is_linear():
    assert_linear(lambda text: [letter for letter in text if letter.isupper()], _letters)
    assert_linear_in_c(lambda text: re.findall("a", text), _letters)
    # One call, however long the text is.
    assert_linear(lambda text: text.upper(), _letters)


def test_work_for_each_pair_is_found_in_python():
    def pairs(text: str) -> None:
        for number, _ in enumerate(text):
            for _ in text[:number:64]:
                pass

    with pytest.raises(AssertionError, match=r"4,096 characters take [\d,]+ steps, and 2,048 take"):
        assert_linear(pairs, _letters)


@pytest.mark.serial
def test_work_for_each_pair_is_found_in_c(monkeypatch):
    # With this size, once is enough on any machine: it takes a third of a second on a fast one. Noise is 0.02 s.
    monkeypatch.setattr("tests.growth._TRIES", 1)
    monkeypatch.setattr("tests.growth._SIZES", 1)
    read = re.compile("a*b").search
    assert_linear(read, _letters)
    with pytest.raises(AssertionError, match=r"characters take .* of CPU time, and"):
        assert_linear_in_c(read, _letters, 1 << 15)
