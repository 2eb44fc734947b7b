"""The evidence about collectives: sums by kind, and a timeline of bounded length. The programs are made up."""

from grader.checks.collective_table import evidence_of
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program, subject


def evidence(*collectives):
    found = subject((program(EIGHT, collectives=collectives), program(EIGHT)))
    return evidence_of(found, found.pairs[0], 64, [])


def test_an_unknown_number_of_executions_adds_no_bytes():
    unknown = exchange("all-gather", 32_768, executions=None, loops=("while",))
    (row,) = evidence(unknown, unknown).sums
    assert (row.in_loop, row.mine.executions, row.mine.bytes, row.mine.ring_bytes) == (True, 0, 0, 0)


def test_the_timeline_has_64_collectives_and_the_sums_have_all():
    shown = evidence(*[exchange("all-gather", 32_768)] * 65)
    assert (len(shown.mine), shown.sums[0].mine.executions) == (64, 65)
