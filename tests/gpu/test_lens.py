"""`./meshgrade bench --only lens` runs: see tests/benchmarks/test_bench.py for the other parts."""

import pytest

from tests.benchmarks.test_bench import measured_quickly

pytestmark = [pytest.mark.xdist_group("gpu"), pytest.mark.timeout(300)]


def test_the_lens_is_measured() -> None:
    run = measured_quickly("lens")
    assert "lens: round 1 of 1" in run.printed
    assert run.figures["lens.gpu_ms_p50"] > run.figures["lens.again_ms_p50"] > 0
