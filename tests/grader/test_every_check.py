"""Every kind of check has golden verdicts, and every bound an example that it rejects.

Kinds are the modules of grader/checks, and bounds the fields of their models and of the manifests.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from grader import checks
from grader.package.package import MANIFESTS
from grader.verdicts.verdict import Mode
from tests.grader.bound_examples import EXAMPLES, Example
from tests.grader.golden_verdicts import FOLDER

TESTS = Path(__file__).parents[1]

# Keys of checks that are read by people, and `custom`, with which the package's own check decides.
OF_CHECKS = {"title", "means", "why", "rule", "custom"}
# Keys of manifests that name, describe or arrange something. No submission can be within or beyond them.
OF_MANIFESTS = {
    *("schema_version", "uuid", "slug", "title", "summary", "outcome", "track", "difficulty", "tags", "prerequisites"),
    *("authors", "licence", "entry", "mode", "devices", "arguments", "variants", "variants.name", "variants.values"),
    *("checks.id", "checks.points", "checks.title", "checks.means", "inputs.dtype"),
    *("answers.id", "answers.label", "answers.kind", "answers.unit", "answers.choices", "answers.rows"),
    *("answers.columns", "answers.placement_shown", "mesh.axes", "mesh.shape", "mesh.device", "mesh.given"),
    *("program.init", "program.export_init", "program.steps", "program.meshes", "program.axis_types"),
    *("program.inputs", "program.groups", "program.full_size.mesh", "program.full_size.shapes"),
}
# Limits that only a process can meet: by limit, a file that does, and what it says in it.
IN_WALLS = {
    "problem.toml.limits.time_s": ("grader/sandbox/test_clocks.py", "def test_computing_is_stopped_by_cpu_time("),
    "problem.toml.limits.wall_s": ("grader/sandbox/test_clocks.py", "def test_waiting_is_stopped_by_the_wall_clock("),
    "problem.toml.limits.memory_mb": ("grader/test_submissions_in_walls.py", '"memory_limit", "1,024 MiB"'),
    "problem.toml.limits.output_mb": ("hostile/submissions/channel/too_large_result.py", "expect: rejected/output_"),
}


def fields(model: type[BaseModel], path: str) -> Iterator[str]:
    """The paths of all keys that have a value of their own, and not a table."""
    for name, field in model.model_fields.items():
        tables = list(_models(field.annotation))
        if not tables:
            yield f"{path}.{name}"
        for each in tables:
            yield from fields(each, f"{path}.{name}")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


KINDS: list[tuple[Mode, str]] = [(mode, name) for mode in MANIFESTS for name in checks.names(mode)]
OF_KINDS = {key for mode, name in KINDS for key in fields(checks.load(mode, name).Bounds, f"{mode}.{name}")}
OF_PROBLEMS = {key for manifest in MANIFESTS.values() for key in fields(manifest, "problem.toml")}


@pytest.mark.parametrize("passed", [True, False], ids=["passed", "failed"])
@pytest.mark.parametrize(("mode", "kind"), KINDS, ids=lambda value: value)
def test_a_check_has_golden_verdicts(mode: Mode, kind: str, passed: bool) -> None:
    golden = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob(f"{mode}-*.json")]
    found = [check for group in golden for verdict in group.values() for check in verdict["checks"]]
    assert [each for each in found if (each["id"], each["passed"]) == (kind, passed)], (
        f"No golden verdict {'passes' if passed else 'fails'} {mode}.{kind}: add one to tests/grader/golden_{mode}s.py."
    )


def test_every_bound_has_an_example() -> None:
    no_bounds = {f"problem.toml.{key}" for key in OF_MANIFESTS}
    assert no_bounds <= OF_PROBLEMS
    bounds = {key for key in OF_KINDS if key.rpartition(".")[2] not in OF_CHECKS} | (OF_PROBLEMS - no_bounds)
    shown = {example.bound for example in EXAMPLES} | IN_WALLS.keys()
    assert sorted(bounds - shown) == [], "Add an example to bound_examples.py or, if it bounds nothing, to a set above."
    assert sorted(shown - bounds) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.bound)
def test_a_bound_rejects_what_another_value_passes(example: Example) -> None:
    assert example.earned(example.rejects) < example.earned(example.passes)


@pytest.mark.parametrize("limit", IN_WALLS)
def test_a_limit_has_a_process_that_it_ends(limit: str) -> None:
    file, said = IN_WALLS[limit]
    assert said in (TESTS / file).read_text(encoding="utf-8")
