"""A package with `[checks.on_chip]`: what the compiler for GPUs makes of the accepted solutions decides."""

import shutil
from pathlib import Path

import pytest

from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.reader import read_package

PROBLEM = Path(__file__).parents[2] / "problems" / "fsdp_auto_step"
ON_CHIP = """
[checks.on_chip]
topology = "h100:8"

[[checks.on_chip.rules]]
kinds = ["reduce-scatter"]
of = "params"
at_least = 1.0
at_most = 1.0

[[checks]]
id = "batch"
"""
MEMORY = """
temporaries_at_most = 2.0

[checks.on_chip]
topology = "h100:8"
of = "params"
temporaries_at_most = {times}
"""
pytestmark = pytest.mark.xdist_group("gpu")


def changed(folder: Path, old: str, new: str) -> Package:
    package = folder / PROBLEM.name
    shutil.copytree(PROBLEM, package)
    manifest = package / "problem.toml"
    text = manifest.read_text(encoding="utf-8")
    assert text.count(old) == 1
    manifest.write_text(text.replace(old, new), encoding="utf-8")
    return read_package(package)


def test_a_rule_about_gpus_tells_apart_what_host_devices_run_alike(terse: Judge, tmp_path: Path) -> None:
    package = changed(tmp_path, '\n[[checks]]\nid = "batch"\n', ON_CHIP)
    assert terse.judge(package, package.reference).status == "accepted"
    per_row = next(each for each in package.accepted if "adam_by_hand" in each.name)
    verdict = terse.judge(package, per_row.source)
    [failed] = [each for each in verdict.checks if not each.passed]
    assert failed.id == "collectives"
    assert "On h100:8 (" in failed.message
    assert "reduce-scatter moves 864 B" in failed.message


@pytest.mark.parametrize(("times", "status"), [("6.0", "accepted"), ("0.5", "rejected")])
def test_temporaries_on_gpus_are_bounded_by_the_size_of_a_group(
    terse: Judge, tmp_path: Path, times: str, status: str
) -> None:
    package = changed(tmp_path, "\ntemporaries_at_most = 2.0\n", MEMORY.format(times=times))
    verdict = terse.judge(package, package.reference)
    assert verdict.status == status, verdict.checks
    found = next(each for each in verdict.checks if each.id == "memory")
    assert "On h100:8 (" in found.message
