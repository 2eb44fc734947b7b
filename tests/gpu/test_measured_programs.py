"""The texts that quote programs for GPUs quote what this compiler makes: `python -m tests.prove` reads them."""

import json

import pytest

from tests.gpu.measured_programs import KEPT, measure

pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(600)]


def test_the_kept_numbers_are_those_of_the_compiler(judge):
    assert measure(judge) == json.loads(KEPT.read_text(encoding="utf-8"))
