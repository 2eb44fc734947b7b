"""Draw and answer the questions of a package. This runs behind the walls, instead of a submission.

The judge appends the texts of questions.py and mistakes.py to this file, which no module imports. Each question leaves
the walls as one JSON text, which the judge checks.
"""

import json
import sys
import types
from typing import Any

QUESTIONS = MISTAKES = ""
VARIANTS = 0


def hidden_cases(rng: Any) -> Any:
    """Yield one question at a time. The runner seeds `rng` again before each one."""
    questions, mistakes = _modules()
    for _ in range(VARIANTS):
        yield {"variant": _solved(questions, mistakes, _plain(questions.draw(rng)))}


def solve(parameters: str) -> str:
    """Answer the question with these parameters, which another version drew."""
    questions, mistakes = _modules()
    return _solved(questions, mistakes, json.loads(parameters))


def _modules() -> tuple[types.ModuleType, types.ModuleType]:
    return _module("questions", QUESTIONS), _module("mistakes", MISTAKES)


def _module(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    # mistakes.py may import questions.
    sys.modules[name] = module
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module


def _solved(questions: Any, mistakes: Any, parameters: Any) -> str:
    wrong = []
    for name, formula in vars(mistakes).items():
        if isinstance(formula, types.FunctionType) and formula.__module__ == "mistakes" and not name.startswith("_"):
            said = " ".join((formula.__doc__ or "").split())
            wrong.append({"name": name, "misunderstanding": said, "answers": _plain(formula(_copy(parameters)))})
    steps = questions.steps(_copy(parameters)) if hasattr(questions, "steps") else {}
    solved = {
        "parameters": parameters,
        "truth": _plain(questions.truth(_copy(parameters))),
        "steps": _plain(steps),
        "mistakes": wrong,
    }
    return json.dumps(solved, allow_nan=True)


def _copy(parameters: Any) -> Any:
    return json.loads(json.dumps(parameters))


def _plain(value: Any) -> Any:
    """Convert NumPy's and JAX's numbers to Python's, and a PartitionSpec to its text."""
    jax: Any = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.sharding.PartitionSpec):
        return f"P({', '.join(repr(each) for each in value)})"
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value
