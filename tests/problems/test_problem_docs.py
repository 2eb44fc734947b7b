"""docs/problems.md names everything that a package may hold."""

from pathlib import Path

from pydantic import BaseModel

from grader import checks
from grader.core.reasons import REASONS
from grader.package.package import (
    AnswerManifest,
    AnswerSpec,
    CallManifest,
    CheckSpec,
    Limits,
    ProgramManifest,
    ProgramSpec,
    Tolerance,
    VariantSpec,
)
from tests.faults import for_each

DOCS = (Path(__file__).parents[2] / "docs" / "problems.md").read_text(encoding="utf-8")
MODELS: list[type[BaseModel]] = [
    CallManifest,
    ProgramManifest,
    AnswerManifest,
    AnswerSpec,
    Limits,
    CheckSpec,
    ProgramSpec,
    Tolerance,
    VariantSpec,
]
# These keys are tables, with a heading of their own.
TABLES = {
    "limits": "### `[limits]`",
    "checks": "### `[[checks]]`",
    "program": "### `[program]`",
    "answers": "### `[[answers]]`",
    "arguments": "### `[arguments]`",
    "mesh": "### `[mesh]`",
    "variants": "### `[[variants]]`",
    "tolerance": "### `[tolerance.<dtype>]`",
    "output_tolerances": "### `[[output_tolerances]]`",
}


@for_each("key", sorted({key for model in MODELS for key in model.model_fields}))
def test_every_key_of_the_manifest_is_documented(key: str) -> None:
    assert TABLES.get(key, f"| `{key}` |") in DOCS


@for_each("name", Limits.model_fields)
def test_the_documented_default_of_a_limit_is_the_real_one(name: str) -> None:
    (row,) = [line for line in DOCS.splitlines() if line.startswith(f"| `{name}` |")]
    assert float(row.split("|")[3]) == Limits.model_fields[name].default


@for_each("reason", REASONS)
def test_every_reason_is_documented(reason: str) -> None:
    assert f"| `{reason}` |" in DOCS


@for_each("name", [*checks.names("call"), *checks.names("program"), *checks.names("answer")])
def test_every_check_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCS


@for_each(
    "file",
    ["problem.toml", "statement.md", "hints.md", "editorial.md", "starter.py", "reference.py", "cases.py", "warmup.py"],
)
def test_every_file_of_a_package_has_a_section(file: str) -> None:
    assert f"\n## {file}\n" in DOCS
