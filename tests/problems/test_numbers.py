"""Every measured number in a statement or an editorial is read again off the compiled programs.

tests/problems/numbers/<slug>.txt repeats the passages that hold numbers, with an expression instead of each one:
`[[m8.gather.bytes:,]]` stands for the bytes that the reference gathers on 8 devices, grouped by thousands. A passage
fails if the text does not contain it as computed, and so does a number with a unit that no passage covers. A run
measures one problem in eight, and those that the last commit changed (tests/parts.py).
"""

import pytest

from tests.grader.shipped_submissions import PROBLEMS
from tests.parts import parameters
from tests.problems.on_8_devices import MEASURED, STATEMENT_PROGRAMS, statement_programs
from tests.problems.passages import NUMBER, computed, plain, uncovered

# A change of the reader of programs, or of many texts, measures every problem.
pytestmark = [STATEMENT_PROGRAMS, pytest.mark.timeout(900)]


@pytest.mark.parametrize("slug", parameters(MEASURED))
def test_every_number_is_what_is_measured(slug: str) -> None:
    wrong, missing = [], []
    for file, found in statement_programs()["passages"][slug].items():
        text = plain((PROBLEMS / slug / file).read_text(encoding="utf-8"))
        wrong += [f"{slug}/{file} does not say: {each}" for each in found if each not in text]
        missing += [f"{slug}/{file}: no passage holds the number in: {each}" for each in uncovered(text, found)]
    assert wrong + missing == []


def test_a_number_that_no_passage_holds_is_found() -> None:
    text = plain("It sends 60{,}256 bytes and\n**1.38** times the FLOPs, in 3 ms; 8 times on 8 devices, since 4 is 4.")
    assert [each.split()[-1] for each in (text[: match.end()] for match in NUMBER.finditer(text))] == [
        "60,256",
        "1.38",
        "3",
    ]
    assert len(uncovered(text, ["sends 60,256 bytes", "in 3 ms"])) == 1


def test_a_passage_is_computed() -> None:
    assert computed("sends [[a * 2:,]] bytes, [[a / 3:.2f]]", {"a": 5000}) == "sends 10,000 bytes, 1666.67"
