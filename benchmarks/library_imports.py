"""What importing a library costs: `python -m benchmarks.library_imports [MODULE …]`.

On demand: a script in the sandbox imports the library, in a new fork each time. In advance: a process that has imported
all that a zygote does also imports the library, and is then forked.
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from app.entry.cli.local_judge import local_judge
from benchmarks.workload import CHECKOUT
from grader.sandbox.bubblewrap import runner_environment

_MODULES = (
    *("orbax.checkpoint", "scipy.linalg", "jax.experimental.pallas.tpu", "flax.nnx", "optax"),
    *("chex", "equinox", "einops", "jaxtyping"),
)
_ROUNDS = 5
_FORKS = 50
# There is no /proc in the sandbox, so its memory is counted in pages that the process touched for the first time.
_ON_DEMAND = """
import importlib, json, resource, time
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before, start = faults(), time.process_time()
importlib.import_module({module!r})
spent = time.process_time() - start
print(json.dumps([spent, (faults() - before) * 4096 / 2**20]))
"""
_INSIDE = "--inside"


def main() -> None:
    modules = sys.argv[1:] or _MODULES
    with local_judge() as (judge, context):
        for module in modules:
            runs = [judge.run_script(_ON_DEMAND.format(module=module), context) for _ in range(_ROUNDS)]
            if fault := runs[0].fault:
                print(f"{module}: {fault.message}")
                continue
            spent, touched = zip(*(json.loads(run.stdout) for run in runs), strict=True)
            print(f"{module}, on demand: {statistics.median(spent):.2f} CPU s, {statistics.median(touched):.1f} MiB")
            subprocess.run(
                [sys.executable, "-m", "benchmarks.library_imports", _INSIDE, module],
                env=runner_environment() | {"PYTHONPATH": str(CHECKOUT)},
                check=True,
            )


def _in_advance(module: str) -> None:
    from grader.forks.zygote import import_everything

    import_everything()
    before, forks = _resident_mib(), _fork_ms()
    start = time.process_time()
    __import__(module)
    spent = time.process_time() - start
    threads = len(list(Path("/proc/self/task").iterdir()))
    print(
        f"{module}, in advance: {spent:.2f} CPU s and {_resident_mib() - before:.1f} MiB once, a fork takes "
        f"{_fork_ms():.2f} ms instead of {forks:.2f} ms, {threads} thread{'s' * (threads != 1)}",
        flush=True,
    )


def _resident_mib() -> float:
    gc.collect()
    gc.freeze()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def _fork_ms() -> float:
    found = []
    for _ in range(_FORKS):
        start = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        found.append((time.perf_counter() - start) * 1000)
        os.waitpid(pid, 0)
    return statistics.median(found)


if __name__ == "__main__":
    if sys.argv[1:2] == [_INSIDE]:
        _in_advance(sys.argv[2])
    else:
        main()
