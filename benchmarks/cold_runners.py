"""What a submission costs a runner that is not warm for its problem: `python -m benchmarks.cold_runners [SLUG …]`.

Each accepted submission is exported for every mesh, or called with every case, in three fresh processes: one with JAX's
default compiler options, one with a runner's, and one with a runner's and the programs of the problem's warm-up.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.workload import CHECKOUT
from grader.review.reader import read_package

_INSIDE = "--inside"
_SIDES = ("plain", "options", "programs")
_PROBLEMS = ("fsdp_shard_map_step", "fsdp_auto_step")


def main() -> None:
    from grader.sandbox.bubblewrap import runner_environment

    flags = f"{runner_environment()['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    environment = runner_environment() | {"XLA_FLAGS": flags, "PYTHONPATH": str(CHECKOUT)}
    with tempfile.TemporaryDirectory() as folder:
        for slug in sys.argv[1:] or _PROBLEMS:
            kept = Path(folder) / f"{slug}.frame"
            _measure(environment, slug, "", "collect", kept)
            names = [each.name for each in read_package(CHECKOUT / "problems" / slug).accepted]
            found = {side: [_measure(environment, slug, name, side, kept) for name in names] for side in _SIDES}
            for number, name in enumerate(names):
                print(f"{slug}/{name}", *(f"{side} {found[side][number]:.2f}" for side in _SIDES))
            print(f"{slug}, median CPU s:", *(f"{side} {statistics.median(found[side]):.2f}" for side in _SIDES))


def _measure(environment: dict[str, str], slug: str, name: str, side: str, kept: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.cold_runners", _INSIDE, slug, name, side, str(kept)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def _inside(slug: str, name: str, side: str, kept: Path) -> float:
    """Return the CPU seconds of all exports or calls. Side `collect` only writes the warm-up's programs to `kept`."""
    from grader.confined import private_jax
    from grader.core import wire
    from grader.modes.program.mode import rehearsing_runner
    from grader.package.package import ProgramManifest
    from grader.runner import warm_up

    package = read_package(CHECKOUT / "problems" / slug)
    warm_up.trace_common_operations()
    cache = warm_up.start_backend()
    manifest = package.manifest
    if side == "collect":
        warmup = rehearsing_runner(package, manifest).warmup if isinstance(manifest, ProgramManifest) else None
        programs = warm_up.warm(warmup.source if warmup else package.warmup, cache, {})
        kept.write_bytes(wire.pack({}, {"entries": programs}))
        return 0.0
    if side == "plain":
        private_jax.compile_with({})
    if side == "programs":
        with kept.open("rb") as file:
            entries = wire.read_frame(file, max_payload_bytes=1 << 30)[1]["entries"]
        warm_up.warm("", cache, entries)  # type: ignore[arg-type]
    source = next(each.source for each in package.accepted if each.name == name)
    before = _cpu_s()
    if isinstance(manifest, ProgramManifest):
        _export(package, source)
    else:
        _call(package, source)
    return _cpu_s() - before


def _export(package, source: str) -> None:  # type: ignore[no-untyped-def]
    """Export the source once for each mesh, with the states of two seeds."""
    from grader.core.case import Case
    from grader.modes.program.signatures import signatures_of
    from grader.runner.export import export_program
    from grader.runner.submission import Submission

    cases: dict[str, object] = {}
    exec(package.cases, cases)
    public = [Case(f"public-{number}", True, each) for number, each in enumerate(cases["public_cases"]())]  # type: ignore[operator]
    program = package.manifest.program
    submission = Submission.load(source, package.manifest.entry)
    for mesh in program.meshes:
        assert math.prod(mesh.values()) <= 8
        for signature in signatures_of(package.manifest, public):
            request = {
                "mesh": mesh,
                "explicit": program.explicit_axes(mesh),
                "init": program.init,
                "export_init": program.export_init,
                "args": list(signature.args),
            }
            export_program(submission, request | {"seeds": [0, 1] if program.init else []})


def _call(package, source: str) -> None:  # type: ignore[no-untyped-def]
    """Call the entry point once with each public case and each hidden one."""
    import numpy as np

    from grader.runner import serve
    from grader.runner.submission import Submission

    cases: dict[str, object] = {}
    exec(package.cases, cases)
    drawn = [*cases["public_cases"](), *cases["hidden_cases"](np.random.default_rng(0))]  # type: ignore[operator]
    observer = serve.Observer()
    observer.install()
    submission = Submission.load(source, package.manifest.entry)
    for case in drawn:
        serve._call(submission, list(case.values()), observer)


def _cpu_s() -> float:
    """CPU seconds of this process and all of its threads."""
    times = os.times()
    return times.user + times.system


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        slug, name, side, kept = sys.argv[2:]
        print(json.dumps(_inside(slug, name, side, Path(kept))))
    else:
        main()
