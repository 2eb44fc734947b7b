"""A test for many values fails with all that is wrong, and names each value."""

import pytest

from tests.faults import assert_none, for_each


def test_every_fault_is_listed():
    with pytest.raises(AssertionError, match="2 faults:\none\ntwo"):
        assert_none(["one", "two"])
    assert_none([])


def test_every_value_is_tested_and_the_wrong_ones_are_named():
    seen = []

    @for_each("value, most", [(1, 2), (5, 2), (2, 3), (9, 4)])
    def is_small(value, most, note):
        seen.append((note, value))
        assert value <= most, f"more than {most}"

    with pytest.raises(AssertionError) as failed:
        is_small(note="x")
    assert seen == [("x", 1), ("x", 5), ("x", 2), ("x", 9)]
    assert "5 2: more than 2" in str(failed.value)
    assert "9 4: more than 4" in str(failed.value)
    assert "1 2" not in str(failed.value)


def test_another_error_names_its_value():
    @for_each("key", ["a", "b"])
    def is_there(key):
        assert {"a": 1}[key]

    with pytest.raises(KeyError) as failed:
        is_there()
    assert failed.value.__notes__ == ["with key = 'b'"]


def test_nothing_to_test_fails():
    @for_each("key", [])
    def passes(key): ...

    with pytest.raises(AssertionError, match="there is nothing to test"):
        passes()


@for_each("value", [1, 2], ids=str)
def test_fixtures_are_given_to_each(value, tmp_path):
    assert tmp_path.is_dir()


pytestmark = pytest.mark.anyio


@for_each("value", [1, 2])
async def test_so_does_a_coroutine(value, tmp_path):
    assert (tmp_path.is_dir(), value < 3) == (True, True)
