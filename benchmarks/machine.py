"""The machine that a figure was measured on, for comparisons."""

import importlib.metadata
import os
import platform
from datetime import date
from pathlib import Path


def describe_machine() -> dict[str, object]:
    """Return today's date, the cores that this process may use, processor, kernel, and the versions that matter."""
    return {
        "date": date.today().isoformat(),
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _processor(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "jax": importlib.metadata.version("jax"),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    # On ARM, the kernel does not name the model.
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
