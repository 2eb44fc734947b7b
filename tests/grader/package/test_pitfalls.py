"""A statement names the rejected submissions that its pitfalls explain, and students see no trace of that."""

from pathlib import Path
from shutil import copytree

import pytest

from grader.package.package import Package
from grader.package.pitfalls import pitfall_of
from grader.review.reader import read_package

ADD_ONE = Path(__file__).parents[1] / "packages" / "add_one"
STATEMENT = """## Problem

Return `x + 1`. <!-- Kept. -->

- Not a pitfall.

## Pitfalls

- **Doubling.** It is
  right for 1.

  Only for 1.
  <!-- rejected: wrong_value/doubled -->
- **Other types.**
- **Adding twice.** Add once.{mark}

After the list.
"""


@pytest.fixture
def package(tmp_path: Path) -> Package:
    folder = Path(copytree(ADD_ONE, tmp_path / "add_one"))
    (folder / "statement.md").write_text(STATEMENT.format(mark=" <!-- rejected: wrong_value/add_two -->"))
    return read_package(folder)


def test_the_pitfall_of_a_misconception_is_the_item_that_names_its_submission(package: Package) -> None:
    found = [pitfall_of(package, each.misunderstanding) for each in package.rejected]
    assert [(each.number, each.text) for each in found if each] == [
        (3, "**Adding twice.** Add once."),
        (1, "**Doubling.** It is\nright for 1.\n\nOnly for 1."),
    ]
    assert pitfall_of(package, "You did something else.") is None


def test_the_statement_has_no_marks(package: Package) -> None:
    unmarked = STATEMENT.format(mark="").replace("\n  <!-- rejected: wrong_value/doubled -->", "")
    assert package.statement == unmarked
