"""The cost of one verifier per attempt, in CPU seconds and wall-clock time: `python -m benchmarks.verifiers`.

The reference of fsdp_shard_map_step is exported once. Then, in each round, a verifier that has served before and one
that was just made compile and run the programs of both meshes. The output is the medians of the rounds.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.workload import CHECKOUT
from grader.core.context import NEVER, QUIET
from grader.judging.references import References
from grader.modes import Modes
from grader.modes.program.export import Export, export
from grader.modes.program.mode import rehearsing_runner
from grader.modes.program.signatures import Signature, signatures_of
from grader.modes.program.verify import verify
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.build import build_sandbox
from grader.sandbox.pool import PoolSettings
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.session import ForkSession
from grader.sandbox.usage import usage_of

_SLUG = "fsdp_shard_map_step"
_MEMORY_MB = 8192
_REST_S = 0.5
Program = tuple[dict[str, int], Signature, Export]


def main(rounds: int) -> None:
    package = read_package(CHECKOUT / "problems" / _SLUG)
    found: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        build_sandbox(Path(folder), settings=PoolSettings(generic=1, per_problem=1, problems=1)) as sandbox,
    ):
        cases = References(Modes(sandbox, bytes(32)), bytes(32), Path(folder)).prepare(package, QUIET).cases
        manifest = package.manifest
        with sandbox.open(rehearsing_runner(package, manifest)) as runner:
            runner.request({"op": "load", "source": package.reference, "entry": package.manifest.entry})
            programs = [
                (mesh, signature, export(runner, manifest, mesh, signature))
                for mesh in manifest.program.meshes
                for signature in signatures_of(manifest, cases)
            ]
        limits = package.manifest.limits.model_copy(update={"memory_mb": _MEMORY_MB})
        spec = RunnerSpec(package.manifest.devices, limits, None, "verify")
        with sandbox.open(spec) as old:
            _serve(old, package, programs)
            for _ in range(rounds):
                with sandbox.open(spec) as new:
                    # A verifier usually waits before it is used, so let it become idle.
                    time.sleep(_REST_S)
                    took = {"made_cpu_s": usage_of(new.pid).cpu_s}
                    for name, verifier in (("old", old), ("new", new)):
                        cpu_s, wall_s = _serve(verifier, package, programs)
                        took |= {f"{name}_cpu_s": cpu_s, f"{name}_wall_s": wall_s}
                took["more_cpu_s"] = took["made_cpu_s"] + took["new_cpu_s"] - took["old_cpu_s"]
                for name, value in took.items():
                    found.setdefault(name, []).append(value)
    print(json.dumps({name: round(statistics.median(values), 3) for name, values in found.items()}, indent=2))


def _serve(verifier: ForkSession, package: Package, programs: list[Program]) -> tuple[float, float]:
    verifier.charge(package.manifest.limits, NEVER)
    cpu_s, started = usage_of(verifier.pid).cpu_s, time.monotonic()
    for mesh, signature, exported in programs:
        verify(verifier, package.manifest, mesh, signature, exported)
    return usage_of(verifier.pid).cpu_s - cpu_s, time.monotonic() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
