"""Ask the package's own check.py whether results are right, in a runner of its own."""

from collections.abc import Sequence
from dataclasses import replace

from grader.checks.compare import Mismatch, compare_form, show
from grader.core.context import Stop
from grader.core.errors import GraderFault, SubmissionFault
from grader.modes.package_code import failed
from grader.package.package import Package
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session
from grader.verdicts.evidence import Difference

_LONGEST = 500
# Wraps both values into one argument, because a runner converts arguments that are arrays to JAX arrays.
_ENTRY = "_meshgrade_check"
_CALL = f"\n\ndef {_ENTRY}(both):\n    return check(both['expected'], both['got'])\n"


def custom_mismatches(
    package: Package, pairs: Sequence[tuple[object, object]], sandbox: Sandbox, spec: RunnerSpec, stop: Stop
) -> list[Mismatch | None]:
    """The mismatch that check.py finds in each result; None if it finds none.

    Call it once the submission's process has ended: only the results, which crossed the wire, reach check.py. It does
    not see a result whose form differs from the reference's. If it raises an exception on a result, that result is
    wrong.

    Args:
      pairs: the reference's result and the submission's, for each case that returned.
    Raises:
      GraderFault: check.py is not as docs/problems.md requires, or needs more than the limits of the problem.
    """
    found = [compare_form(expected, got) for expected, got in pairs]
    if all(found):
        return found
    try:
        with sandbox.open(replace(spec, own=True), stop) as session:
            session.load(package.check + _CALL, _ENTRY, modules=package.helpers)
            return [
                mismatch or _ask(package, session, expected, got)
                for mismatch, (expected, got) in zip(found, pairs, strict=True)
            ]
    except SubmissionFault as fault:
        raise failed(package, "check.py", fault) from None


def _ask(package: Package, session: Session, expected: object, got: object) -> Mismatch | None:
    difference = Difference(expected=show(expected), got=show(got))
    try:
        said = session.call([{"expected": expected, "got": got}]).get("result", ...)
    except SubmissionFault as fault:
        if fault.reason != "error":
            raise
        kind = "the problem's own check failed on your result"
        return Mismatch("wrong_value", kind, f"{kind}, so it does not count as right.", difference)
    if said is None:
        return None
    if not isinstance(said, str):
        raise GraderFault(f"{package.slug}: check.py must return None or a text, not {show(said)[:80]}")
    text = said.strip()[:_LONGEST] or "it does not say why"
    return Mismatch("wrong_value", "the problem's own check does not accept your result", text, difference)
