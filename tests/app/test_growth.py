"""No text makes a reader of the service do more than work in proportion to its length.

Markdown and the rules for packages are among them, although a process with a limit reads these texts
(tests/app/core/test_bounded_calls.py): an honest package must not reach the limit.
"""

import io
import zipfile

import pytest

from app.authoring.package_zip import files_of
from app.core.errors import PackageRefused
from app.core.web.markdown import parse_markdown
from tests.app.growing_texts import LONG, READERS, TEXTS, repeated
from tests.growth import assert_linear, assert_linear_in_c


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", TEXTS)
def test_twice_the_text_is_about_twice_the_work(reader: str, text: str) -> None:
    assert_linear(READERS[reader], repeated(TEXTS[text]), 1 << (11 if reader in LONG else 12))


@pytest.mark.serial
@pytest.mark.parametrize("reader", READERS)
def test_eight_times_the_text_is_about_eight_times_the_work_of_regular_expressions_and_parsers(reader: str) -> None:
    for text in TEXTS.values():
        assert_linear_in_c(READERS[reader], repeated(text), 1 << (13 if reader in LONG else 15))


def test_a_table_does_not_fill_its_short_rows_without_end():
    def rows(size: int) -> str:
        width = size // 6
        return f"|{'a|' * width}\n|{'-|' * width}\n" + "|\n" * width

    assert_linear(lambda text: parse_markdown(text, "s"), rows, 1 << 10)


def listed(text: str) -> None:
    with pytest.raises(PackageRefused):
        files_of(text.encode("latin-1"))


def archive(size: int) -> str:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as written:
        for number in range(size // 100):
            written.writestr(f"{number}.md", "a")
    return data.getvalue().decode("latin-1")


def test_an_archive_of_many_files_is_listed_with_linear_work():
    assert_linear(listed, archive, 1 << 19)


@pytest.mark.serial
def test_an_archive_of_many_files_is_unpacked_in_linear_time():
    assert_linear_in_c(listed, archive, 1 << 19)
