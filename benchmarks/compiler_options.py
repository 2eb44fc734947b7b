"""What a verifier's compiler options save, and what they change: `python -m benchmarks.compiler_options [SLUG ...]`.

Every accepted submission to the program-mode problems is exported once for each mesh, and compiled without and with
the options in one process. All graded facts are read from both executables and compared.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.workload import CHECKOUT

_INSIDE = "--inside"


def main() -> None:
    """Run this module again in a runner's environment, which JAX reads on import."""
    from grader.sandbox.bubblewrap import runner_environment

    flags = f"{runner_environment()['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    environment = runner_environment() | {"XLA_FLAGS": flags, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "benchmarks.compiler_options", _INSIDE, *sys.argv[1:]]
    sys.exit(subprocess.run(command, env=environment, cwd=CHECKOUT, check=False).returncode)


def compare(slugs: list[str]) -> None:
    """Print each problem's CPU time for loading, without and with the options, and every fact that differs."""
    from grader.review.reader import read_package

    total, same, spent = 0, 0, [0.0, 0.0]
    for folder in sorted((CHECKOUT / "problems").iterdir()):
        package = read_package(folder)
        if package.manifest.mode != "program" or (slugs and package.slug not in slugs):
            continue
        of_problem = [0.0, 0.0]
        for path in [folder / "reference.py", *sorted((folder / "submissions" / "accepted").glob("*.py"))]:
            for axes in package.manifest.program.meshes:
                facts, cpu_s = _both(package, path, axes)
                total, same = total + 1, same + (facts[0] == facts[1])
                of_problem = [sum(pair) for pair in zip(of_problem, cpu_s, strict=True)]
                for name in sorted(name for name in facts[0] if facts[0][name] != facts[1][name]):
                    print(f"{package.slug}, {path.name}, {axes}: {name} differs")
                    print(f"  without {facts[0][name]}\n  with    {facts[1][name]}")
        print(f"{package.slug}: {of_problem[0]:.2f} s of CPU without, {of_problem[1]:.2f} s with", flush=True)
        spent = [sum(pair) for pair in zip(spent, of_problem, strict=True)]
    print(f"All: {spent[0]:.1f} s without, {spent[1]:.1f} s with, {spent[1] / spent[0]:.2f}.")
    print(f"All graded facts are the same in {same} of {total} programs.")


def _both(package: Any, path: Path, axes: dict[str, int]) -> tuple[list[dict[str, Any]], list[float]]:
    import jax
    import numpy as np

    from grader.confined import private_jax
    from grader.core.case import Case
    from grader.modes.program.signatures import signatures_of
    from grader.program import facts
    from grader.runner.export import export_program
    from grader.runner.submission import Submission
    from grader.verifier import load
    from grader.verifier.measure import facts_of

    program = package.manifest.program
    submission = Submission.load(path.read_text(), package.manifest.entry)
    case = Case("public-1", True, Submission.load(package.cases, "public_cases").call([])[0])  # type: ignore[index]
    signature = signatures_of(package.manifest, [case])[0]
    seeds = [case.inputs["seed"]] if program.init else []
    request = {"mesh": axes, "explicit": program.explicit_axes(axes), "init": program.init, "seeds": seeds}
    request |= {"export_init": False, "args": list(signature.args)}
    exported = export_program(submission, request)
    state = [{"shape": list(np.shape(leaf)), "dtype": leaf.dtype.name} for leaf in exported.states[0].values()]
    inputs = [{"shape": arg["shape"], "dtype": arg["dtype"]} for arg in signature.args if "static" not in arg]
    # The export set compiler options for the whole process.
    private_jax.compile_with({})
    options, found, cpu_s = dict(load.COMPILER_OPTIONS), [], []
    for chosen in ({}, options):
        load.COMPILER_OPTIONS.clear()
        load.COMPILER_OPTIONS.update(chosen)
        # Otherwise the second compilation would find the executable of the first.
        jax.clear_caches()  # type: ignore[no-untyped-call]
        started = time.process_time()
        loaded = load.load(exported.artifact, axes, [*state, *inputs], len(state))
        cpu_s.append(time.process_time() - started)
        found.append(facts.to_json(facts_of(loaded)))
    return found, cpu_s


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        compare(sys.argv[2:])
    else:
        main()
