"""Run every known submission of fsdp_step on given cases and write down what each call gave, as JSON.

This is a program of its own, because XLA reads the number of host devices only once in a process.
Usage: answers_of_submissions.py PROBLEM_FOLDER OUTPUT_FILE
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Answer = dict[str, Any]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # flax and dataclasses look the module of a class up by name.
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return module


def draw_cases(folder: Path) -> list[dict[str, Any]]:
    """Public cases, then hidden ones, each of these from a newly seeded generator."""
    module = load(folder / "cases.py")
    rng = np.random.default_rng(0)
    hidden = module.hidden_cases(rng)
    cases: list[dict[str, Any]] = list(module.public_cases())
    for number in range(1000):
        rng.bit_generator.state = np.random.default_rng(number).bit_generator.state
        case = next(hidden, None)
        if case is None:
            return cases
        cases.append(case)
    raise AssertionError("hidden_cases does not end")


def answer(entry: Callable[..., object], case: dict[str, Any]) -> Answer:
    inputs = [jnp.asarray(value) if isinstance(value, np.ndarray) else value for value in case.values()]
    try:
        result = entry(*inputs)
    except Exception as error:  # whatever a submission raises is its answer
        return {"error": type(error).__name__}
    if not isinstance(result, jax.Array | np.ndarray):
        return {"type": type(result).__name__}
    array = np.asarray(result)
    return {"shape": list(array.shape), "dtype": array.dtype.name, "values": array.astype(float).ravel().tolist()}


def answers(path: Path, cases: list[dict[str, Any]]) -> list[Answer]:
    """One answer per case; a single one if the file cannot be loaded or lacks the entry point."""
    try:
        entry = load(path).fsdp_step
    except (SyntaxError, AttributeError) as error:
        return [{"error": type(error).__name__}]
    return [answer(entry, case) for case in cases]


def main() -> None:
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    cases = draw_cases(folder)
    paths = [folder / "reference.py", folder / "starter.py", *sorted((folder / "submissions").rglob("*.py"))]
    found = {path.relative_to(folder).as_posix(): answers(path, cases) for path in paths}
    output.write_text(json.dumps({"devices": len(jax.devices()), "answers": found}), encoding="utf-8")


if __name__ == "__main__":
    main()
