"""The modes in which a problem is graded, one package each. Only this module chooses between them."""

from collections.abc import Mapping
from typing import Any

from grader.core.chips import ChipName
from grader.core.context import Context
from grader.inputs.explored_function import Function
from grader.modes.answer.mode import AnswerMode
from grader.modes.call.hidden_cases import HiddenCaseDraws
from grader.modes.call.mode import CallMode
from grader.modes.mode import Mode
from grader.modes.program.function_inspection import inspect_function
from grader.modes.program.mode import ProgramMode
from grader.package.package import AnswerManifest, CallManifest, Package, ProgramManifest
from grader.program.measurement import Measured, OnFirst
from grader.sandbox.background_gate import BackgroundGate
from grader.sandbox.protocol import Sandbox


class Modes:
    """Keeps the state that modes need between gradings. Threads may share one.

    Args:
      sandbox: where submissions run.
      secret: the deployment's secret; hidden inputs are derived from it.
      idle: tells when nothing is graded.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, idle: BackgroundGate | None = None) -> None:
        self.sandbox = sandbox
        self._draws = HiddenCaseDraws(sandbox, secret, idle or BackgroundGate())

    def of(self, package: Package) -> Mode[Any]:
        match package.manifest:
            case CallManifest() as manifest:
                return CallMode(package, manifest, self.sandbox, self._draws)
            case ProgramManifest() as manifest:
                return ProgramMode(package, manifest, self.sandbox)
            case AnswerManifest() as manifest:
                return AnswerMode(package, manifest, self.sandbox)

    def next_draw(self, package: Package) -> str | None:
        """A new name for an attempt whose hidden inputs are already drawn, so that it is graded sooner; None if there
        is none."""
        return self._draws.next_name(package)

    def inspect_function(
        self,
        function: Function,
        source: str,
        context: Context,
        chip: ChipName | None,
        options: Mapping[str, str],
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Like `Mode.inspect` in program mode, for a function that belongs to no problem."""
        found = inspect_function(function, self.sandbox, source, context, chip=chip, options=options, on_first=on_first)
        return (found,)
