"""Grade one tiny built-in program like a student's, through runner, export, verifier, checks and verdict."""

import time
from dataclasses import dataclass

from grader.core.errors import MeshgradeError
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.reader import package_of

_MANIFEST = """
schema_version = 1
uuid = "8d5a7a52-6f0c-4c38-9a9b-6c7d51e0a4f1"
slug = "trial"
title = "Trial"
summary = "Add one to a state."
track = "Trial"
difficulty = "easy"
mode = "program"
entry = "step"
devices = 4
authors = ["Meshgrade"]
licence = "Apache-2.0"

[limits]
memory_mb = 1024

[program]
init = "init"
meshes = [{ x = 4 }, { x = 2 }]

[program.inputs]
x = ["x"]

[[checks]]
id = "values"
points = 50

[[checks]]
id = "sharding"
points = 50
"""
_REFERENCE = '''"""Adds the mean of its input."""
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def init(mesh, seed):
    return jax.lax.with_sharding_constraint(jnp.full((8,), seed, jnp.float32), NamedSharding(mesh, P("x")))


def step(mesh, state, x):
    return jax.lax.with_sharding_constraint(state + jnp.mean(x), NamedSharding(mesh, P("x"))), jnp.sum(x)
'''
_STARTER = """def init(mesh, seed):
    raise NotImplementedError


def step(mesh, state, x):
    raise NotImplementedError
"""
_CASES = """import numpy as np


def public_cases():
    return [{"seed": 1, "x": np.arange(12, dtype=np.float32).reshape(1, 12)}]


def hidden_cases(rng):
    yield {"seed": 2, "x": rng.standard_normal((1, 12), dtype=np.float32)}
"""
_FILES = {
    "problem.toml": _MANIFEST,
    "statement.md": "Add the mean of `x` to the state.",
    "hints.md": "## Hint 1\n`jnp.mean`.\n",
    "editorial.md": "See the reference.",
    "starter.py": _STARTER,
    "reference.py": _REFERENCE,
    "cases.py": _CASES,
    "submissions/accepted/the_reference.py": _REFERENCE,
    "submissions/rejected/error/the_starter.py": '"""Left the starter as it was."""\n' + _STARTER,
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result. If `graded` is False, `found` says why. `seconds` is wall-clock time from a cold start."""

    graded: bool
    found: str
    seconds: float


def trial_package() -> Package:
    return package_of("trial", _FILES)


def grade_trial(judge: Judge) -> Trial:
    """Grade the trial package with a judge that has nothing cached. Errors are returned, not raised."""
    started = time.monotonic()
    try:
        verdict = judge.judge(trial_package(), _REFERENCE)
    except MeshgradeError as error:
        return Trial(False, str(error), time.monotonic() - started)
    seconds = time.monotonic() - started
    if verdict.status == "accepted":
        return Trial(True, "a program was exported, compiled, run and accepted", seconds)
    failed = [f"{check.id}: {check.message}" for check in verdict.checks if not check.passed]
    why = "; ".join(failed) or verdict.stderr.strip()[-500:] or "the log above says why"
    return Trial(False, f"a correct program was {verdict.status}: {why}", seconds)
