"""The comparison with a GPU's own compiler compiles the lens's program again if it is given the lens's description."""

import json
from pathlib import Path

import pytest

from benchmarks.real_gpu import request_of
from grader.core.chips import CHIPS
from grader.program.strict_json import write
from grader.review.reader import read_package
from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices

pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(600)]


def test_the_lens_does_not_differ_from_itself(judge, tmp_path: Path) -> None:
    package = read_package(CHECKOUT / "problems" / "fsdp_auto_step")
    [measured, *_] = judge.inspect(package, package.reference, chip="h100")
    requests = [request_of(tmp_path, 0, measured, CHIPS["h100"])]
    (tmp_path / "requests.json").write_text(json.dumps(requests))
    (tmp_path / "lens.json").write_text(json.dumps([write(measured.on_chip.program)]))
    found = run_on_8_devices(Path(__file__).with_name("compared_with_itself.py"), tmp_path)
    assert found == {"0.bin": []}
