"""What `explore` prints of the programs in docs/bring_your_own.md."""

import re

from tests.grader.explorer.own_programs import by_name, without_leaves
from tests.grader.explorer.own_programs import filled as page_with
from tests.prove import digests
from tests.prove.kind import Kind, Receipts

# The printed table has a column for the number of executions, so it says `7` for "7 times", and bytes have one decimal.
_FIGURE = re.compile(r"\b\d[\d,.]*(?= (KiB|MiB|GiB|times)\b)")


def _of_program(name: str) -> dict[str, str]:
    each = by_name()[name]
    return {"source": digests.of_text(each.source), "function": digests.of_text(repr(each.function))}


def _wrong_page(name: str, measured: list[str]) -> list[str]:
    """Report if the page does not show what is printed, and each figure of its prose that is not in that."""
    exploration, text = by_name()[name], "\n".join(measured)
    where = f"docs/bring_your_own.md, {exploration.file}"
    faults = []
    if exploration.shown != without_leaves(text):
        faults.append(f"{where} does not show what is printed; to fill the page: python -m tests.write")
    figures = {
        match[0] if match[1] == "times" else f"{float(match[0].replace(',', '')):,.1f} {match[1]}"
        for match in _FIGURE.finditer(exploration.prose)
    }
    missing = sorted(each for each in figures if not re.search(rf"(?<![\d.]){re.escape(each)}", text))
    return faults + [f"{where}: {each} of the prose is not in what is printed" for each in missing]


KINDS = (
    Kind(
        "explored",
        "tests/grader/explorer/own_programs.py",
        lambda: list(by_name()),
        _of_program,
        _wrong_page,
        kept=lambda measured: measured.split("\n"),
    ),
)


def filled() -> str:
    """The page with the outputs that the receipts have."""
    receipts = Receipts()
    return page_with("\n".join(receipts.measured(KINDS[0], name)) for name in by_name())
