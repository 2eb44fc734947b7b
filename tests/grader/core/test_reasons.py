"""A process is believed about the reasons that it may report, and about no other."""

import threading
from typing import get_args

import pytest

from grader.core.errors import SubmissionFault
from grader.core.reasons import REASONS, Reason, Reporter, reported
from grader.package.package import Limits
from grader.sandbox.protocol import RunnerSpec
from tests.grader.forged_replies import ForgedSandbox, frame_of

MAY_REPORT = {
    "runner": {
        "syntax_error",
        "missing_entry",
        "error",
        "wrong_dtype",
        "wrong_structure",
        "not_exportable",
        "memory_limit",
        "output_limit",
    },
    "verifier": {"error", "wrong_sharding", "not_exportable", "divergent_collective", "memory_limit", "output_limit"},
}


def test_the_table_has_each_reason_once():
    assert list(REASONS) == list(get_args(Reason))
    assert all(facts.reported_by for facts in REASONS.values())


@pytest.mark.parametrize("reason", [reason for reason in REASONS if REASONS[reason].wrong_result])
def test_a_wrong_result_is_one_of_a_program(reason: Reason):
    assert REASONS[reason].has_program


@pytest.mark.parametrize("reporter", ["runner", "verifier"])
@pytest.mark.parametrize("name", [*get_args(Reason), "accepted", ""])
def test_a_reply_is_believed_where_its_reason_may_be_reported(reporter: Reporter, name: str):
    reply = {"ok": False, "reason": name, "message": "what it says", "detail": {}, "values": {}}
    session = ForgedSandbox([frame_of(reply)]).open(RunnerSpec(1, Limits()), threading.Event())
    session._reporter = reporter
    with session, pytest.raises(SubmissionFault) as raised:
        session.request({"op": "call"})
    believed = name in MAY_REPORT[reporter]
    assert str(raised.value).startswith("what it says" if believed else "Something other than the runner")
    assert raised.value.reason == (name if believed else "error")
    assert (reported(name, by=reporter) is not None) == believed
