"""The memory of an idle service is measured, by real processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
_LINE = re.compile(r"^.*: ([\d,]+) MB \((.*)\)$", re.MULTILINE)
pytestmark = [pytest.mark.rotation, pytest.mark.xdist_group("bench"), pytest.mark.timeout(900)]


def test_the_memory_of_each_kind_of_process_is_printed():
    lines = _LINE.findall(_printed("--problems", "1", "--rest", "0"))
    assert len(lines) == 3
    for whole, parts in lines:
        mb = {name: int(each.replace(",", "")) for name, each in re.findall(r"(\w+) ([\d,]+)", parts)}
        assert set(mb) == {"service", "zygote", "forks", "others"}
        # Each part is rounded.
        assert abs(sum(mb.values()) - int(whole.replace(",", ""))) <= 4
        assert min(mb["service"], mb["forks"]) > 50


def test_a_pool_at_rest_holds_less_than_half_of_what_it_was_asked_for():
    full, rest = (
        int(each.replace(",", "")) for each in re.findall(r": ([\d,]+) MB$", _printed("--pool"), re.MULTILINE)
    )
    assert 100 < rest < full / 2


def _printed(*asked: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.idle_memory", *asked],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
