"""Run a script in the sandbox and return what it prints, without a problem or a verdict."""

from typing import Annotated, Literal

from pydantic import Field

from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.core.reasons import Reason
from grader.core.strict_model import SafeText, StrictModel
from grader.modes.report import fault_line, fault_message
from grader.package.package import Limits
from grader.sandbox.protocol import Output, RunnerSpec, Sandbox

DEVICES = 8
# The programs of the lessons need up to 1.3 s of CPU time and 220 MiB.
LIMITS = Limits(time_s=15, wall_s=30, memory_mb=1024, output_mb=1)
_LONGEST = 4_000


class ScriptFault(StrictModel):
    """Why a script ended early. `reason` is null if the grader failed; `line` is a line of the script."""

    reason: Reason | None
    message: SafeText
    line: Annotated[int, Field(ge=1)] | None = None


class Printed(StrictModel):
    """What a script printed, up to 16 KiB of each stream, and why it ended early, if it did.

    `truncated` means that it printed more. All of it comes from the script's process, so never base a decision on it.
    """

    schema_version: Literal[1] = 1
    stdout: SafeText = ""
    stderr: SafeText = ""
    truncated: bool = False
    fault: ScriptFault | None = None


def run_script(source: str, sandbox: Sandbox, context: Context) -> Printed:
    """Run a script in a runner of its own, which serves nothing else.

    Raises:
      GraderFault, WallMissing: the script could not be run.
      Cancelled: the caller stopped it.
    """
    with sandbox.open(RunnerSpec(DEVICES, LIMITS), context.stop) as session:
        context.progress("running")
        try:
            session.execute(source)
        except SubmissionFault as fault:
            return _printed(session.output(), _fault_of(fault))
        return _printed(session.output())


def _printed(output: Output, fault: ScriptFault | None = None) -> Printed:
    return Printed(stdout=output.stdout, stderr=output.stderr, truncated=output.truncated, fault=fault)


def _fault_of(fault: SubmissionFault) -> ScriptFault:
    return ScriptFault(reason=fault.reason, message=fault_message(fault)[:_LONGEST], line=fault_line(fault))
