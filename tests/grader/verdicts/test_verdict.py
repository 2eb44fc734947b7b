"""A stored verdict is read with everything in it, and one of another version is refused."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from grader.verdicts.verdict import Verdict

STORED = sorted((Path(__file__).parents[1] / "stored_verdicts").glob("*.json"))


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.stem)
def test_a_stored_verdict_is_read_as_it_is(file: Path):
    stored = json.loads(file.read_bytes())
    # What a later release added has its default.
    assert json.loads(Verdict.model_validate(stored).model_dump_json(exclude_unset=True)) == stored


@pytest.mark.parametrize("version", [1, 3, "2"])
def test_a_verdict_of_another_version_is_refused(version: object):
    stored = json.loads(STORED[0].read_bytes())
    with pytest.raises(ValidationError, match="schema_version"):
        Verdict.model_validate(stored | {"schema_version": version})
