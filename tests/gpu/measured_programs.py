"""What the compiler for GPUs makes of programs that texts quote.

`python -m tests.gpu.measured_programs` writes it into measured_programs.json, so that the texts are checked where this
compiler is not installed.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from grader.judging.judge import Judge
from grader.modes.program.full_size import full_size_function
from grader.package.package import Package
from grader.program.measurement import Measured
from grader.review.reader import read_package

KEPT = Path(__file__).with_suffix(".json")
PROBLEMS = Path(__file__).parents[2] / "problems"
# Programs for 8 H100s.
SMALL = {
    "constraint_gather_weights": ("reference", "starter"),
    "fsdp_auto_step": ("reference", "starter", "submissions/accepted/adam_by_hand"),
}
# Programs at full size.
LARGE = {"fit_7b": ("reference", "starter", "submissions/accepted/products_kept")}


def measure(judge: Judge) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what a chip sends and the most that it holds, by problem and file."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for slug, names in SMALL.items():
        package = read_package(PROBLEMS / slug)
        found[slug] = {name: _read(_on_8(judge, package, name)) for name in names}
    for slug, names in LARGE.items():
        package = read_package(PROBLEMS / slug)
        function = full_size_function(package.manifest, judge.inspect(package, package.reference)[0])
        found[slug] = {
            name: _read(judge.inspect_function(function, package.files[f"{name}.py"], chip="h100")[0]) for name in names
        }
    return found


def _on_8(judge: Judge, package: Package, name: str) -> Measured:
    programs = judge.inspect(package, package.files[f"{name}.py"], chip="h100")
    return next(each for each in programs if each.facts.devices == 8)


def _read(measured: Measured) -> dict[str, Any]:
    """The bytes of whole tensors by kind, and those that a chip sends and holds."""
    on_chip = measured.on_chip
    assert on_chip is not None
    assert on_chip.program is not None, on_chip.fault
    kinds: Counter[str] = Counter()
    sent = 0
    for computation in on_chip.program.schedule.computations:
        for each in computation.collectives:
            kinds[each.kind.replace("-", "_")] += each.logical_bytes * (computation.executions or 1)
            sent += each.ring_bytes * (computation.executions or 1)
    return dict(sorted(kinds.items())) | {"sent": sent, "peak": on_chip.program.peak_bytes}


def main() -> None:
    import tempfile

    from grader.sandbox.build import build_sandbox

    with tempfile.TemporaryDirectory() as folder:
        sandbox = build_sandbox(Path(folder) / "programs")
        try:
            found = measure(Judge(sandbox, b"a secret of the tests, 32 bytes.", Path(folder) / "cache"))
        finally:
            sandbox.close()
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
