"""The examples on the page of the Explorer: small functions, with their meshes and inputs."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.function import Function, read_function

_FILE = Path(__file__).with_name("examples.toml")


@dataclass(frozen=True, slots=True)
class Example:
    """`expected` names the collectives in program order, for the test that compiles it."""

    slug: str
    title: str
    summary: str
    function: Function
    source: str
    expected: tuple[str, ...]


@cache
def all_examples() -> tuple[Example, ...]:
    """The first is shown to those who come without anything of their own."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))["examples"]
    return tuple(
        Example(
            slug=each["slug"],
            title=each["title"],
            summary=each["summary"],
            function=read_function(each["function"], each["mesh"], each["inputs"]),
            source=each["source"].lstrip("\n"),
            expected=tuple(each["expected"]),
        )
        for each in tables
    )


def example_of(slug: str) -> Example | None:
    return next((each for each in all_examples() if each.slug == slug), None)
