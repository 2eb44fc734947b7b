"""What a verifier saves by compiling without LLVM's optimizations: `python -m benchmarks.llvm_level [SLUG]`.

The reference of a problem of mode program is exported once and compiled in turn with and without, in one process.
"""

import os
import statistics
import subprocess
import sys
import time

from benchmarks.workload import CHECKOUT

_ROUNDS = 9
_INSIDE = "--inside"


def main() -> None:
    """Start over in the environment of a runner, since JAX reads it when it is imported."""
    from grader.sandbox.bubblewrap import runner_environment

    flags = f"{runner_environment()['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    environment = runner_environment() | {"XLA_FLAGS": flags, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "benchmarks.llvm_level", _INSIDE, *sys.argv[1:]]
    sys.exit(subprocess.run(command, env=environment, cwd=CHECKOUT, check=False).returncode)


def compare(slug: str) -> None:
    """Compile in turn, and print the median of each side and whether anything that is judged differs."""
    import jax
    import numpy as np

    from grader.case import Case
    from grader.examine import forms_of
    from grader.package.reader import read_package
    from grader.runner.export import export_program
    from grader.runner.submission import Submission

    package = read_package(CHECKOUT / "problems" / slug)
    program = package.manifest.program
    assert program is not None
    submission = Submission.load(package.reference, package.manifest.entry)
    cases = [Case("public-1", True, Submission.load(package.cases, "public_cases").call([])[0])]  # type: ignore[index]
    form, axes = forms_of(package, cases)[0], program.meshes[0]
    seeds = [case.inputs["seed"] for case in form.cases] if program.init else []
    request = {"mesh": axes, "init": program.init, "seeds": seeds, "export_init": False, "args": list(form.args)}
    exported = jax.export.deserialize(bytearray(export_program(submission, request).artifact))
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
    shardings = exported.in_shardings_jax(mesh)
    avals = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)  # type: ignore[no-untyped-call]
        for aval, sharding in zip(exported.in_avals, shardings, strict=True)
    ]
    levels = {"with": {}, "without": {"xla_backend_optimization_level": "0"}}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in levels}
    facts = {}
    for _ in range(_ROUNDS):
        for name, options in levels.items():
            # Else the second of them would find the first one's executable.
            jax.clear_caches()  # type: ignore[no-untyped-call]
            lowered = jax.jit(exported.call).lower(*avals)
            started, cpu = time.perf_counter(), sum(os.times()[:2])
            compiled = lowered.compile(compiler_options=dict(options))
            spent[name].append((time.perf_counter() - started, sum(os.times()[:2]) - cpu))
            memory = compiled.memory_analysis()
            facts[name] = (
                _without_metadata(compiled.as_text()),
                memory.temp_size_in_bytes,
                memory.output_size_in_bytes,
            )
    for name, samples in spent.items():
        wall, cpu = (statistics.median(column) for column in zip(*samples, strict=True))
        print(f"{name} LLVM's optimizations: {wall * 1000:.0f} ms, {cpu:.2f} s of CPU")
    same = facts["with"] == facts["without"]
    print("HLO and memory are the same." if same else "HLO or memory DIFFER.")
    if not same:
        sys.exit(1)


def _without_metadata(hlo: str) -> str:
    """Names and numbers of the text that are counted anew with each compilation stand in its first line alone."""
    return hlo.partition("\n")[2]


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        compare(sys.argv[2] if len(sys.argv) > 2 else "fsdp_shard_map_step")
    else:
        main()
