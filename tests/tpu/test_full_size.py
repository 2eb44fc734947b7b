"""What the compiler for TPUs says of submissions at full size is what the editorial says. Each takes minutes.

A run measures them if the problem or the check changed.
"""

import json
import re
from pathlib import Path

import pytest

from grader.core.chips import compiler_of
from grader.modes.program.full_size import full_size_function
from grader.review.reader import read_package
from tests.selection import everything, has_changed, parameters

KEPT = json.loads(Path(__file__).with_name("full_size.json").read_text(encoding="utf-8"))
FILES = (
    *("problems/fit_7b/reference.py", "problems/fit_7b/submissions/"),
    *("tests/tpu/full_size.json", "grader/checks/program/fits.py"),
)
NAMES = sorted(KEPT) if everything() or has_changed(*FILES) else []
pytestmark = [pytest.mark.xdist_group("tpu"), pytest.mark.timeout(1200)]


@pytest.mark.parametrize("name", parameters(NAMES))
def test_it_needs_what_the_editorial_says(judge, name):
    package = read_package(Path(__file__).parents[2] / "problems" / "fit_7b")
    small = judge.inspect(package, package.reference)[0]
    function = full_size_function(package.manifest, small)
    [measured] = judge.inspect_function(function, package.files[f"{name}.py"], chip="v5e")
    kept = KEPT[name]
    assert kept["compiler"] == compiler_of("tpu")
    if "peak" in kept:
        assert measured.on_chip.program.peak_bytes == kept["peak"]
    else:
        said = re.search(r"HLO temporaries \((\S+?)G\)", measured.on_chip.fault)
        assert said
        assert said[1] == kept["refused"]
