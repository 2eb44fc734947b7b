"""docs/performance.md says of each table when and where it was measured, and names the parts of `./meshgrade bench`."""

import re

from benchmarks.__main__ import app
from benchmarks.parts import PARTS
from tests.docs.pages import CHECKOUT
from tests.faults import for_each

PAGE = (CHECKOUT / "docs" / "performance.md").read_text(encoding="utf-8")
SECTIONS = {text.partition("\n")[0]: text for text in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]}
# A table of figures has columns that are aligned to the right.
FIGURES = re.compile(r"^\|[ |:-]*--:[ |:-]*\|$", re.MULTILINE)
MEASURED = re.compile(r"\bMeasured (?:with `[^`]+` )?on (\d{4}-\d\d-\d\d), on \d+ cores\b")
WITH_FIGURES = [name for name, text in SECTIONS.items() if FIGURES.search(text)]


def test_the_tables_are_found() -> None:
    assert {"`call` mode", "A million attempts", "Always the same verdict"} <= set(SECTIONS)
    assert len(WITH_FIGURES) > len(PARTS)


@for_each("section", WITH_FIGURES)
def test_every_table_has_a_date_and_a_machine(section: str) -> None:
    """They are below the table, or below several that were measured together."""
    text = SECTIONS[section]
    last = [found.end() for found in FIGURES.finditer(text)][-1]
    assert MEASURED.search(text, last)
    # Every sentence that begins with "Measured" has both.
    assert len(MEASURED.findall(text)) == len(re.findall(r"\bMeasured\b", text))


def test_every_problem_that_was_measured_still_exists() -> None:
    named = re.findall(r"^\| \*(\w+)\* \|", SECTIONS["Each problem"], re.MULTILINE)
    assert len(named) > 10
    assert len(set(named)) == len(named)
    assert [slug for slug in named if not (CHECKOUT / "problems" / slug).is_dir()] == []


def test_the_page_names_every_part_that_can_be_measured_alone() -> None:
    [listed] = re.findall(r"--only, one part: (.+)$", PAGE, re.MULTILINE)
    assert re.split(r", | or ", listed) == list(PARTS)


def test_the_page_and_the_help_say_how_long_a_whole_run_takes() -> None:
    [command] = app.registered_commands
    assert command.help
    [takes] = re.findall(r"Takes (about [a-z ]+);", command.help)
    assert (
        f"./meshgrade bench                                    # every part below that has targets; {takes}\n" in PAGE
    )
