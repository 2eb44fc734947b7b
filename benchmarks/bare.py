"""The cases of a problem in a plain Python: no walls, no pool, no server, no checks. A program, never imported.

Usage: python bare.py SUBMISSION ENTRY CASES [--stay]

CASES is a folder of wire frames, one a case. Without `--stay` they are run once and the process ends. With it they
are run once to warm the process, `ready` is printed, and then each line on standard input runs them again and is
answered with the milliseconds that this took. A result that is not the reference's ends the process with status 1.
"""

import sys
import time
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from grader.runner import wire

Case = tuple[list[Any], Any]


def main(submission: Path, entry: str, folder: Path, *, stay: bool) -> None:
    cases = read_cases(folder)
    run_all(submission, entry, cases)
    if not stay:
        return
    print("ready", flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        run_all(submission, entry, cases)
        print((time.perf_counter() - started) * 1000, flush=True)


def read_cases(folder: Path) -> list[Case]:
    """The arguments and the right result of each case."""
    cases = []
    for path in sorted(folder.glob("*.frame")):
        with path.open("rb") as file:
            _, values = wire.read_frame(file, max_payload_bytes=1 << 30)
        inputs: Any = values["inputs"]
        cases.append((list(inputs.values()), values["result"]))
    return cases


def run_all(submission: Path, entry: str, cases: list[Case]) -> None:
    """Import the submission afresh and call it once a case, with inputs converted as the runner converts them."""
    module = types.ModuleType("submission")
    sys.modules["submission"] = module
    exec(compile(submission.read_text(), "submission.py", "exec"), module.__dict__)
    for args, expected in cases:
        inputs = [jnp.asarray(value) if isinstance(value, np.ndarray) else value for value in args]
        result = jax.tree.map(np.asarray, getattr(module, entry)(*inputs))
        if not all(np.allclose(*pair, rtol=1e-3) for pair in zip(_leaves(result), _leaves(expected), strict=True)):
            sys.exit("bare: a result is not the reference's")


def _leaves(tree: Any) -> list[Any]:
    return jax.tree.leaves(tree)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), stay="--stay" in sys.argv[4:])
