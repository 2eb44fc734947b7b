"""The programs of docs/bring_your_own.md. `python -m tests.prove` compiles them and compares what the page shows."""

import re

from app.learning.explorer.guests import MAX_DEVICES
from tests.grader.explorer.own_programs import PAGE, by_name, explorations


def test_each_program_has_a_section() -> None:
    assert len({each.file for each in explorations()}) == 10
    assert len(re.findall(r"^## \d+\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 10


def test_each_command_has_a_name() -> None:
    names = by_name()
    assert len(names) == len(explorations())
    assert names["nnx_train_step"].file == names["nnx_train_step-2"].file == "nnx_train_step.py"


def test_a_guest_can_explore_each_of_them() -> None:
    assert max(each.function.devices for each in explorations()) <= MAX_DEVICES
