"""Measure units of one kind, one after the other: `python -m tests.prove.worker PROGRAM`.

Each line of the input is a JSON list of a unit and a file. The result is written to the file, and the line `done` or
`failed` answers. A program that prepares nothing measures each unit in a fork, so that a unit cannot change what the
next one finds, and all share the time that imports take.
"""

import contextlib
import importlib
import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What programs print goes to the log.
    os.dup2(2, 1)
    # JAX warns of forks. None of its threads runs yet.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
    module = importlib.import_module(sys.argv[1])
    with contextlib.ExitStack() as stack:
        prepared = [stack.enter_context(module.prepared())] if hasattr(module, "prepared") else None
        for line in sys.stdin:
            unit, output = json.loads(line)
            done = _in_fork(module, unit, output) if prepared is None else _written(module, unit, output, prepared)
            print("done" if done else "failed", file=answers, flush=True)


def _in_fork(module: ModuleType, unit: str, output: str) -> bool:
    child = os.fork()
    if child == 0:
        done = _written(module, unit, output, [])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0 if done else 1)
    return os.waitpid(child, 0)[1] == 0


def _written(module: ModuleType, unit: str, output: str, prepared: list[Any]) -> bool:
    try:
        Path(output).write_text(json.dumps(module.measure(unit, *prepared)), encoding="utf-8")
    except Exception:  # whatever a unit raises is that unit's failure, and the next one is measured
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    main()
