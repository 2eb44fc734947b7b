"""The ids of tests, as tests/conftest.py makes and checks them."""

import io
import zipfile
from pathlib import Path

import pytest

from tests.conftest import MAX_ID, long_ids, pytest_make_parametrize_id

CONFTEST = Path(__file__).with_name("conftest.py")


def test_a_zip_is_named_by_its_argument_at_any_time():
    assert [pytest_make_parametrize_id(None, _zip(second), "archive") for second in (0, 2)] == ["archive"] * 2


@pytest.mark.parametrize("value", ["x" * 101, "\N{SNOWMAN}" * 20, b"\0" * 40, 10**400], ids=range(4))
def test_what_is_too_long_to_be_read_is_named_by_its_argument(value):
    assert pytest_make_parametrize_id(None, value, "value") == "value"


@pytest.mark.parametrize("value", ["x" * 100, b"two words\n", 10**9, 0.5, None, ("x" * 101,)], ids=range(6))
def test_anything_else_is_left_to_pytest(value):
    assert pytest_make_parametrize_id(None, value, "value") is None


def test_an_id_that_is_too_long_is_told():
    assert long_ids(["a" * MAX_ID]) is None
    message = long_ids(["a" * MAX_ID, "b" * (MAX_ID + 1)])
    assert message.startswith("1 tests have an id of over 200 characters. Give ")
    assert message.endswith(f"  {'b' * MAX_ID}… (201 characters)")


def test_collecting_a_module_with_such_an_id_fails(pytester):
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("short", ["x" * 1000])
        def test_named_by_its_argument(short): ...

        @pytest.mark.parametrize("value", [1], ids=["x" * 300])
        def test_named_by_its_author(value): ...
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["1 tests have an id of over 200 characters.*", "*test_named_by_its_author[[]xx*"])


def _zip(second):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("problem.toml", (2026, 1, 1, 0, 0, second)), b"")
    return file.getvalue()
