"""A runner that failed: operators read its message, a student only the known cause, and no log has its output."""

from grader.sandbox.faults import RUNNER_GAVE_UP, fault_of_exit, last_words

TRACEBACK = """A LINE THAT THE SUBMISSION PRINTED
Traceback (most recent call last):
  File "/opt/meshgrade/grader/forks/zygote.py", line 71, in _obey
    _become_runner(order, confinement, descriptors)
  File "/opt/meshgrade/grader/runner/serve.py", line 55, in serve
    SECRET SOURCE LINE
  File "/tmp/of_the_submission.py", line 3, in hidden_value_17
OSError: [Errno 24] Too many open files: 'SECRET'
"""


def test_operators_read_where_and_how_and_nothing_that_was_printed():
    told = last_words(TRACEBACK)
    assert told == "OSError: [Errno 24] < runner/serve.py:55 < forks/zygote.py:71"


def test_a_forged_traceback_says_nothing_of_its_own():
    forged = '  File "/x/grader/runner/secret.py", line 3, in SECRET\nSECRET: no\nMemoryErrorSECRET'
    assert "secret" not in last_words(forged).lower()
    assert last_words("SECRET") == "nothing that a runner prints"


def test_a_student_is_told_what_is_known():
    fault = fault_of_exit(RUNNER_GAVE_UP, TRACEBACK)
    assert fault.reason == "killed"
    assert "because no file descriptor was left" in str(fault)
    assert "does not say why" in str(fault_of_exit(RUNNER_GAVE_UP, "x"))
