"""Reads explore.toml: which programs of a lesson the Explorer opens, as functions with a mesh and inputs."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.learning.lessons.lesson import Block, Explorable
from grader.core.toml import TomlInvalid, read_toml
from grader.inputs.explored_function import read_function
from grader.package.package import Line

FILE = "explore.toml"
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Entry(BaseModel):
    """One `[[programs]]` table; the mesh and the inputs are written as on the page of the Explorer."""

    model_config = _STRICT

    program: Annotated[int, Field(ge=1)]
    title: Line
    function: Line
    mesh: Line
    inputs: str
    expected: list[Line]


class _File(BaseModel):
    model_config = _STRICT

    programs: list[_Entry] = Field(min_length=1)


def read_explorable(text: str, blocks: Sequence[Block]) -> tuple[tuple[Explorable, ...], list[str]]:
    """The programs, and what is wrong with them.

    Args:
      text: of explore.toml; empty if the lesson has none.
      blocks: the programs of the lesson.
    """
    if not text:
        return (), []
    try:
        entries = _File.model_validate(read_toml(text)).programs
    except TomlInvalid as error:
        return (), [f"{FILE} cannot be read: {error}"]
    except ValidationError as error:
        return (), [f"{FILE}: {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    found: list[Explorable] = []
    faults: list[str] = []
    for entry in entries:
        where = f"{FILE}, program {entry.program}"
        if entry.program > len(blocks):
            faults.append(f"{where}: the lesson has {len(blocks)} programs")
        elif any(each.program == entry.program for each in found):
            faults.append(f"{where}: listed twice")
        elif not re.search(rf"^ *def {re.escape(entry.function)}\(", blocks[entry.program - 1].code, re.MULTILINE):
            faults.append(f"{where}: the program defines no function {entry.function!r}")
        else:
            try:
                function = read_function(entry.function, entry.mesh, entry.inputs)
                found.append(Explorable(entry.program, entry.title, function, tuple(entry.expected)))
            except ValueError as error:
                faults.append(f"{where}: {error}")
    return tuple(found), faults
