"""Measure what one MLIR context for all lowerings saves: `python -m benchmarks.mlir_context`.

Each side warms fsdp_step in two fresh processes. The first compiles the programs and stores them. The second only loads
them, as a waiting fork does, and is the one that is measured.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.workload import CHECKOUT

_WARMUP = CHECKOUT / "problems" / "fsdp_step" / "warmup.py"
_CHILD = """
import json, resource, sys
from jax._src.interpreters import mlir
from grader.runner import warm_up
from grader.core import wire
shared, kept, source = sys.argv[1] == "shared", sys.argv[2], open(sys.argv[3]).read()
make = mlir.make_ir_context
cache = warm_up.start_backend()
if not shared:
    mlir.make_ir_context = make
entries = {}
try:
    with open(kept, "rb") as file:
        entries = wire.read_frame(file, max_payload_bytes=1 << 30)[1]["entries"]
except FileNotFoundError:
    pass
cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
before = cpu()
programs = warm_up.warm(source, cache, entries)
spent = cpu() - before
with open(kept, "wb") as file:
    file.write(wire.pack({}, {"entries": programs}))
resident = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
print(json.dumps({"cpu_s": round(spent, 2), "resident_mb": resident // 1024, "programs": len(programs)}))
"""


def main() -> None:
    for side in ("own", "shared"):
        kept = Path(f"/tmp/meshgrade-mlir-{os.getpid()}-{side}")
        try:
            figures = [_measure(side, kept) for _ in range(2)][1]
        finally:
            kept.unlink(missing_ok=True)
        print(f"{side} context: {json.dumps(figures)}")


def _measure(side: str, kept: Path) -> dict[str, float]:
    from grader.sandbox.bubblewrap import runner_environment

    flags = f"{runner_environment()['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    environment = runner_environment() | {"XLA_FLAGS": flags, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-c", _CHILD, side, str(kept), str(_WARMUP)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
