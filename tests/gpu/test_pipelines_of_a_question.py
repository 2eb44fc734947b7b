"""The pipelines that read_the_hlo_2 shows are what this compiler makes of their source."""

import pytest

from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices

pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(600)]


def test_the_texts_of_the_question_are_what_the_compiler_writes() -> None:
    assert run_on_8_devices("pipelines_on_gpus.py", CHECKOUT / "problems") == {"differences": []}
