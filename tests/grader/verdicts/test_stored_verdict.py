"""Verdicts of the first version open with all their evidence; what has no known form is left out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.verdicts.evidence import Amounts, Collectives, Factors, Facts, FailedCase, Fault, Leaves, Tolerances
from grader.verdicts.stored_verdict import read_verdict
from grader.verdicts.verdict import Verdict

FIRST = Path(__file__).parents[1] / "stored_verdicts" / "version_1"
MESH = {"x": 2}
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def first(name: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((FIRST / f"{name}.json").read_text(encoding="utf-8"))
    assert "schema_version" not in stored
    return stored


def with_evidence(evidence: Any) -> dict[str, Any]:
    stored = first("call_rejected")
    stored["checks"] = [{**stored["checks"][0], "evidence": evidence}]
    return stored


def read(evidence: Any) -> list[Any]:
    return list(read_verdict(with_evidence(evidence)).checks[0].evidence)


@pytest.mark.parametrize("name", ["call_accepted", "call_rejected", "program_accepted"])
def test_all_but_the_evidence_is_as_it_was(name: str):
    stored = first(name)
    verdict = read_verdict(stored)
    assert verdict.schema_version == 2
    now = json.loads(verdict.model_dump_json())
    for old, new in zip(stored["checks"], now["checks"], strict=True):
        del old["evidence"], new["evidence"]
        # Older than the fields: everything was checked, and the message is all that says what is wrong.
        assert new.pop("checked") is True
        assert new.pop("headlines") == []
    assert now == stored | {"schema_version": 2}


def test_each_check_of_a_program_keeps_its_evidence_for_each_mesh():
    kinds = {
        check.id: [type(entry) for entry in check.evidence] for check in read_verdict(first("program_accepted")).checks
    }
    assert kinds == {
        "values": [Tolerances],
        "sharding": [Leaves] * 2,
        "state_bytes": [Amounts] * 2,
        "collectives": [Collectives] * 2,
        "batch": [Facts] * 2,
        "flops": [Amounts] * 2,
        "memory": [Amounts] * 2,
        "donation": [Amounts] * 2,
        "scaling": [Factors],
        "retrace": [Facts] * 2,
    }


def test_a_failed_case_keeps_its_numbers():
    stored = first("call_rejected")["checks"][0]["evidence"]["cases"][0]
    entry = next(
        each for each in read_verdict(first("call_rejected")).checks[0].evidence if isinstance(each, FailedCase)
    )
    assert entry.difference is not None
    assert entry.difference.worst is not None
    assert (entry.case, entry.inputs) == (stored["id"], stored["inputs"])
    assert entry.difference.got == stored["got"]
    assert entry.difference.worst.index == stored["worst_index"]
    assert entry.difference.worst.relative_error == stored["relative_error"]


def test_a_fault_keeps_its_place():
    assert read({"line": 3, "column": 7}) == [Fault(line=3, column=7)]
    (entry,) = read({"cases": [{"id": "public-1", "inputs": {}, "type": "ValueError", "traceback": []}]})
    assert entry == FailedCase(case="public-1", fault=Fault(type="ValueError"))


def test_an_entry_of_no_known_form_takes_no_other_with_it():
    good = {"mesh": MESH, "retraced": True}
    assert len(read({"meshes": [good, {"mesh": MESH, "retraced": "yes"}, None, {"mesh": {"x": 0}}, good]})) == 2
    assert len(read({"tolerance": 1, "cases": "none", "meshes": [good]})) == 1
    assert read({"of": "a later time"}) == []


@given(ANY, ANY)
def test_any_evidence_opens(mesh: Any, rest: Any):
    keys = ("leaves", "rows", "timeline", "mine", "reference", "whole", "donated", "state", "factors", "whole_batch")
    read(rest if isinstance(rest, dict) else {})
    read({"meshes": rest, "cases": rest, "tolerance": rest})
    for key in keys:
        read({"meshes": [{"mesh": mesh, key: rest}, {"mesh": MESH, key: rest}], "cases": [{"id": "c", key: rest}]})


def test_a_verdict_of_today_is_read_as_it_is():
    verdict = read_verdict(first("program_accepted"))
    assert read_verdict(json.loads(verdict.model_dump_json())) == verdict


@pytest.mark.parametrize(
    "stored", [{}, {"checks": 1}, {"checks": [1]}, {"checks": [{"evidence": []}]}, {"schema_version": 3}]
)
def test_what_is_no_verdict_or_a_later_one_is_an_error(stored: dict[str, Any]):
    with pytest.raises(ValidationError):
        read_verdict(stored)


def test_a_later_version_is_not_taken_for_this_one():
    stored = json.loads(read_verdict(first("call_accepted")).model_dump_json())
    with pytest.raises(ValidationError):
        Verdict.model_validate(stored | {"schema_version": 3})
