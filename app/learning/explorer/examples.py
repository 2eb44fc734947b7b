"""The examples on the page of the Explorer: small functions, with their meshes and inputs, and what they compile to."""

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.core.chips import ChipName
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function, read_function

_FILE = Path(__file__).with_name("examples.toml")
# Compiled before the release, so that no visitor waits: tests/grader/explorer/example_results.py.
RESULTS = Path(__file__).with_name("example_results.json")


@dataclass(frozen=True, slots=True)
class Example:
    """`expected` names the collectives in program order, for the test that compiles it. The form begins with `chip`."""

    slug: str
    title: str
    summary: str
    function: Function
    source: str
    expected: tuple[str, ...]
    chip: ChipName | None


@cache
def all_examples() -> tuple[Example, ...]:
    """The first is shown to a reader who brings no source."""
    tables = {each["slug"]: each for each in tomllib.loads(_FILE.read_text(encoding="utf-8"))["examples"]}
    return tuple(_example(tables[each["like"]] | each if "like" in each else each) for each in tables.values())


def _example(table: dict[str, Any]) -> Example:
    return Example(
        slug=table["slug"],
        title=table["title"],
        summary=table["summary"],
        function=read_function(table["function"], table["mesh"], table["inputs"]),
        source=table["source"].lstrip("\n"),
        expected=tuple(table["expected"]),
        chip=table.get("chip"),
    )


def example_of(slug: str) -> Example | None:
    return next((each for each in all_examples() if each.slug == slug), None)


@cache
def shipped_results() -> dict[str, Explored]:
    """What each example compiles to, by its slug."""
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {slug: Explored.model_validate(result) for slug, result in stored.items()}
