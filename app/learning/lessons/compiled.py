"""What a function of a lesson's program sends between devices, after a reader changed and ran the program."""

from typing import Annotated

from pydantic import Field

from app.core.web.drawings.units import bytes_text
from grader.core.strict_model import Closed, SafeText
from grader.explorer.exploration import Explored, ExploredCollective
from grader.inputs.explored_function import Function


class Compiled(Closed):
    """The collectives of the `function`, compiled for the mesh and the inputs that the lesson gives it; they are as in
    an exploration. `fault` says why it could not be compiled, and is empty otherwise.
    """

    function: Function
    collectives: list[ExploredCollective] = Field(default_factory=list)
    fault: Annotated[SafeText, Field(max_length=4_000)] = ""

    @property
    def sentence(self) -> str:
        """What each device sends in one call, as Markdown."""
        name = f"`{self.function.name}`"
        setting = f"For {', '.join(f'`{each}`' for each in self.function.inputs)} on `{self.function.mesh_text}`"
        if self.fault:
            return f"{name} could not be compiled, so there is no picture of what it sends."
        if not self.collectives:
            return f"{setting}, {name} sends nothing."
        least = "at least " if any(each.executions is None for each in self.collectives) else ""
        sent = sum(each.ring_bytes * (each.executions or 1) for each in self.collectives)
        return f"{setting}, each device sends {least}{bytes_text(sent)} in your {name}."


def compiled(function: Function, found: Explored) -> Compiled | None:
    """None if nothing was compiled."""
    if found.fault is not None:
        return Compiled(function=function, fault=found.fault.message)
    return Compiled(function=function, collectives=found.programs[0].collectives) if found.programs else None
