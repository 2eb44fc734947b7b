"""Check that the optimizer was built as required: `nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)`.

The transform is judged by the updates that it computes from given gradients, however it is written. The comparison runs
outside the submission's process.
"""

import math

from grader.checks.call_outcome import CallSubject, Observed, Tolerances
from grader.checks.compare import compare, in_digits
from grader.checks.finding import Finding, Located, rejected
from grader.checks.wording import Wording
from grader.core.errors import GraderFault
from grader.package.package import CallManifest, CheckBounds
from grader.verdicts.verdict import Trust

TITLE = "The optimizer is built as required"
TRUST: Trust = "observed"
Bounds = CheckBounds
_REQUIRED = "nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)"


def describe(bounds: Bounds, manifest: CallManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        (f"every case builds `{_REQUIRED}`, or an `nnx.Optimizer` with another transform that does the same",),
        (
            "`wrt` is the reference's, and three gradients in a row give the same updates, within the tolerance of "
            "the values",
        ),
    )


def check(subject: CallSubject, bounds: Bounds) -> Finding:
    """Pass if every case has an optimizer with the reference's `wrt` and a transform that computes the same updates."""
    # The tolerances by dtype: those of outputs do not apply to gradients and updates.
    tolerances = {**subject.tolerances}
    for outcome in subject.outcomes:
        if outcome.got is None:
            return Finding(False, "Not judged: a case did not return.", "wrong_structure")
        # Search updates, too: under jit, the optimizer may have been built when an earlier case was traced.
        built = outcome.got.observed
        expected = next((event for event in outcome.expected.observed if event.get("event") == "optimizer"), None)
        if expected is None:
            raise GraderFault("the check 'optimizer' needs a reference that builds an nnx.Optimizer")
        if not any(_is_same(event, expected, tolerances) for event in built):
            fault = _explain(built, expected, public=outcome.case.public)
            return rejected([Located(f"{outcome.case.id}: ", fault)], "wrong_structure", [])
    return Finding(True, f"Every case builds {_REQUIRED}.")


def _is_same(event: Observed, expected: Observed, tolerances: Tolerances) -> bool:
    got = event.get("updates")
    if event.get("wrt") != expected["wrt"] or not isinstance(got, dict):
        return False
    # A leaf that the model lacks has no gradient either, which the check `update` reports.
    pairs = [
        (update, other)
        for path, update in expected["updates"].items()
        for name, other in got.items()
        if _matches(name, path)
    ]
    return bool(pairs) and all(compare(update, other, tolerances) is None for update, other in pairs)


def _matches(name: str, path: str) -> bool:
    # A model that wraps the layer inserts names between the step and the path.
    step, _, leaf = path.partition("/")
    return name == path or (name.startswith(f"{step}/") and name.endswith(f"/{leaf}"))


def _same_rate(event: Observed, expected: Observed) -> bool:
    rate, wanted = event.get("lr"), expected["lr"]
    # A rate that was stored in a float32 array is no longer the same double.
    return isinstance(rate, float) and math.isclose(rate, wanted, rel_tol=1e-6, abs_tol=1e-12)


def _explain(built: list[Observed], expected: Observed, *, public: bool) -> str:
    if not built:
        return f"no nnx.Optimizer was built. Build it as {_REQUIRED}."
    event = built[-1]
    if event.get("wrt") != expected["wrt"]:
        return "the optimizer was not built with wrt=nnx.Param."
    if event.get("tx") == "sgd" and event.get("momentum") != expected["momentum"]:
        return "optax.sgd has a momentum, which this problem does not use."
    if event.get("tx") == "sgd" and not _same_rate(event, expected):
        values = _rates(expected["lr"], event["lr"]) if public else ""
        return f"optax.sgd has the wrong learning rate{values}. Pass it the learning rate that your function receives."
    return (
        "the optimizer's transform does not behave like optax.sgd(lr). Applied to three gradients g in a row, it must "
        f"return -lr * g each time. Build it as {_REQUIRED}."
    )


def _rates(expected: float, got: object) -> str:
    if not isinstance(got, float):
        return f": expected {expected:.3g}, got something other than a number"
    wanted, found = in_digits(expected, got)
    return f": expected {wanted}, got {found}"
