"""A source as a module: this code must read everything that Python reads from a file."""

import pytest

from grader.runner.submission import Submission, SubmissionFailed

MARK = "\N{BYTE ORDER MARK}"


def test_a_byte_order_mark_is_skipped():
    submission = Submission.load(f"{MARK}def double(x):\n    return 2 * x\n", "double")
    assert submission.call([21]) == 42


def test_a_fault_behind_a_byte_order_mark_is_where_an_editor_shows_it():
    with pytest.raises(SubmissionFailed) as caught:
        Submission.load(f"{MARK}x = [\n", "double")
    assert (caught.value.reason, caught.value.detail) == ("syntax_error", {"line": 1, "column": 5})


def test_a_mark_further_on_is_a_syntax_error_as_in_a_file():
    with pytest.raises(SubmissionFailed, match="invalid non-printable character U\\+FEFF"):
        Submission.load(f"x = 1\n{MARK}y = 2\n", "double")
