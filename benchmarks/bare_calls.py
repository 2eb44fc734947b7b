"""Run a problem's cases in plain Python, without walls, pool, server or checks. Run as a program, never imported.

Usage: python bare_calls.py SUBMISSION ENTRY CASES [--program JSON] [--stay]

CASES is a folder of wire frames, one per case. `--program` takes the `[program]` table of a program-mode problem;
without it, the entry point is called. Without `--stay`, the cases run once and the process ends. With it, they run once
to warm the process, which then prints `ready`. After that, each line on standard input runs them again, and the process
prints the time in milliseconds. If a result differs from the reference's, the process ends with status 1.
"""

import argparse
import json
import sys
import time
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks.bare_program import run_programs
from grader.core import wire


def main(submission: Path, run_all: Callable[[types.ModuleType], bool], *, stay: bool) -> None:
    def once() -> None:
        if not run_all(load(submission)):
            sys.exit("bare: a result is not the reference's")

    once()
    if not stay:
        return
    print("ready", flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        once()
        print((time.perf_counter() - started) * 1000, flush=True)


def load(submission: Path) -> types.ModuleType:
    """Import the submission again, each time as a new module."""
    module = types.ModuleType("submission")
    sys.modules["submission"] = module
    exec(compile(submission.read_text(), "submission.py", "exec"), module.__dict__)
    return module


def read_cases(folder: Path) -> list[dict[str, Any]]:
    """Return the arguments and the expected result of each case."""
    cases = []
    for path in sorted(folder.glob("*.frame")):
        with path.open("rb") as file:
            cases.append(wire.read_frame(file, max_payload_bytes=1 << 30)[1])
    return cases


def run_calls(module: types.ModuleType, entry: str, cases: list[dict[str, Any]]) -> bool:
    """Call the entry point once per case, with inputs converted as in the runner. Returns whether all were right."""
    right = True
    for case in cases:
        inputs = [
            jax.device_put(value) if isinstance(value, np.ndarray) else value for value in case["inputs"].values()
        ]
        result = jax.tree.map(np.asarray, getattr(module, entry)(*inputs))
        pairs = zip(jax.tree.leaves(result), jax.tree.leaves(case["result"]), strict=True)
        right = right and all(np.allclose(*pair, rtol=1e-3) for pair in pairs)
    return right


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("submission", type=Path)
    parser.add_argument("entry")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--program", type=json.loads)
    parser.add_argument("--stay", action="store_true")
    options = parser.parse_args()
    cases = read_cases(options.cases)
    if options.program:
        main(options.submission, partial(run_programs, options.entry, options.program, cases), stay=options.stay)
    else:
        main(options.submission, partial(run_calls, entry=options.entry, cases=cases), stay=options.stay)
