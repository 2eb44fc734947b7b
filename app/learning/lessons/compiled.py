"""What a function of a lesson's program sends between devices, after a reader changed and ran the program."""

from pydantic import Field

from app.core.web.units import bytes_text
from grader.core.strict_model import SafeText, StrictModel
from grader.explorer.exploration import Explored, ExploredCollective
from grader.inputs.explored_function import Function
from grader.verdicts.evidence import Count


class Compiled(StrictModel):
    """The collectives of the `function`, compiled for the mesh and the inputs that the lesson gives it.

    They are as in an exploration, which leaves out `unlisted_collectives` of them. `fault` says why the function could
    not be compiled, and is empty otherwise.
    """

    function: Function
    collectives: list[ExploredCollective] = Field(default_factory=list)
    unlisted_collectives: Count = 0
    fault: SafeText = ""

    @property
    def sentence(self) -> str:
        """What each device sends in one call, as Markdown."""
        name = f"`{self.function.name}`"
        setting = f"For {', '.join(f'`{each}`' for each in self.function.inputs)} on `{self.function.mesh_text}`"
        if self.fault:
            return f"{name} could not be compiled, so there is no picture of what it sends."
        if not self.collectives:
            return f"{setting}, {name} sends nothing."
        # In a collective-permute, some devices may send nothing.
        bound = "at most " if any(each.conditional or each.senders for each in self.collectives) else ""
        if self.unlisted_collectives or any(each.executions is None for each in self.collectives):
            bound = "at least "
        sent = bytes_text(sum(each.sent_bytes for each in self.collectives))
        return f"{setting}, each device sends {bound}{sent} in your {name}."


def compiled(function: Function, found: Explored) -> Compiled | None:
    """None if nothing was compiled."""
    if found.fault is not None:
        return Compiled(function=function, fault=found.fault.message)
    if not found.programs:
        return None
    program = found.programs[0]
    return Compiled(
        function=function, collectives=program.collectives, unlisted_collectives=program.unlisted_collectives
    )
