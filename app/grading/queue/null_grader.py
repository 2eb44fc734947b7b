"""A grader that executes nothing, for tests of everything around grading."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from grader.answers.question_variants import Variants
from grader.core.case import Case
from grader.core.chips import ChipName
from grader.core.context import QUIET, Context
from grader.explorer.script import Printed
from grader.inputs.explored_function import Function
from grader.inputs.own_inputs import OwnInputs
from grader.package.package import Package
from grader.program.measurement import Measured, OnFirst
from grader.sandbox.retry_backoff import RetryBackoff
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.package_study import Answers
from grader.verdicts.verdict import CaseResult, CheckResult, Verdict


class NullGrader:
    """Accepts exactly the text of the package's reference. It reads sources and never runs them."""

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = QUIET,
        *,
        hidden: bool = True,
        draw: str | None = None,
        own: OwnInputs | None = None,
    ) -> Verdict:
        right = source == package.reference
        context.progress("comparing")
        verdict = Verdict(
            problem=package.slug,
            version=package.version,
            variant=package.variant_name,
            status="accepted" if right else "rejected",
            reason=None if right else "wrong_value",
            score=None if not hidden else 100 if right else 0,
            checks=[
                CheckResult(
                    id="values",
                    title="Every value is correct",
                    passed=right,
                    points=100 if right else 0,
                    max_points=100,
                    trust="verified",
                    message="The text is the reference's." if right else "The text differs from the reference's.",
                )
            ],
            cases=[
                CaseResult(id="own-1" if own else "public-1", public=True, passed=right, message="compared as text")
            ],
            walls=[],
        )
        # The same mistake, whatever its docstring says.
        last = source.strip().rpartition("\n")[2]
        return verdict if right else verdict.with_fingerprint(Fingerprint(results={"public-1": {"": last}}))

    def inspect(
        self,
        package: Package,
        source: str,
        context: Context = QUIET,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Returns nothing, because nothing is compiled."""
        return ()

    def inspect_function(
        self,
        function: Function,
        source: str,
        context: Context = QUIET,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Returns nothing, because nothing is compiled."""
        return ()

    def run_script(self, source: str, context: Context = QUIET) -> Printed:
        """A program prints its own text, because nothing is run."""
        return Printed(stdout=source)

    def prepare(self, package: Package, context: Context = QUIET, *, background: bool = False) -> None:
        context.progress("nothing to prepare")

    @cached_property
    def setbacks(self) -> RetryBackoff:
        return RetryBackoff()

    def variants(self, package: Package, context: Context = QUIET) -> Variants | None:
        """None, because questions are drawn by the package's own code."""
        return None

    def answers(self, package: Package, context: Context = QUIET, cases: Sequence[Case] | None = None) -> Answers:
        """None, because no reference runs."""
        return Answers((), {})

    def warm(self, package: Package) -> None:
        pass

    def next_draw(self, package: Package) -> str | None:
        """None, because nothing is drawn."""
        return None
