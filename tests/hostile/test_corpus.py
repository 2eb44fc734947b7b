"""The corpus matches its description."""

from typing import get_args

import pytest

from grader.core.reasons import REASONS
from grader.sandbox.walls import wall_names
from grader.verdicts.verdict import Status
from tests.faults import for_each
from tests.hostile.attack import FOLDER, parse, read_corpus

ATTACKS = read_corpus()
BY_NAME = {attack.name: attack for attack in ATTACKS}


def test_there_are_enough_of_every_kind():
    groups = {attack.group for attack in ATTACKS}
    assert groups >= set("resources files network processes syscalls channel fidelity honest made pairs".split())
    assert len(ATTACKS) > 250


@for_each("name", BY_NAME)
def test_an_expectation_uses_the_judges_words(name):
    attack = BY_NAME[name]
    for status, reason in attack.expected:
        assert status in get_args(Status)
        assert reason is None or reason in REASONS
        assert (status == "rejected") or reason is None
    assert set(attack.walls) <= set(wall_names())
    assert len(attack.text) < 4000


def test_pairs_name_one_another():
    paired = [attack for attack in ATTACKS if attack.pair or attack.group == "pairs"]
    assert len(paired) >= 10
    for attack in paired:
        assert attack.pair is not None
        assert BY_NAME[attack.pair].pair == attack.name


def test_honest_ones_are_expected_to_be_accepted_and_nothing_else():
    for attack in ATTACKS:
        if attack.group == "honest":
            assert attack.expected == {("accepted", None)}


@pytest.mark.parametrize(
    "line",
    [
        '"""expect rejected. No colon."""',
        '"""expect: rejected; wal: seccomp. A slip."""',
        '"""expect: rejected; says: nothing. No quotes."""',
        '"""expect: rejected."""',
        "import os",
    ],
)
def test_a_line_of_another_form_is_refused(line):
    with pytest.raises(ValueError, match="line 1"):
        parse("x/y", line + "\n")


def test_no_file_of_the_corpus_is_left_out():
    assert {str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.py")} == set(BY_NAME)
