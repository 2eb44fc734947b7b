"""Was the optimizer built as asked: `nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)`?

The transform is judged by what it makes of gradients, beside the process that runs the submission: however it is
written, one that does the same is the same.
"""

import math
from typing import Any

from grader.checks.call.outcome import Outcome, Tolerances
from grader.checks.finding import Bounds as Bounds
from grader.checks.finding import Finding
from grader.compare import compare
from grader.errors import GraderFault
from grader.verdict import Trust

TITLE = "The optimizer is built as asked"
TRUST: Trust = "observed"
_ASKED = "nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)"


def check(outcomes: list[Outcome], tolerances: Tolerances) -> Finding:
    """Pass when in every case some optimizer has the reference's `wrt`, and a transform that does what its does."""
    for outcome in outcomes:
        if outcome.got is None:
            return Finding(False, "Not judged: a case did not come back.", "wrong_structure")
        # An update carries the same facts: under jit the optimizer may have been built when an earlier case was traced.
        built = outcome.got.observed
        expected = next((event for event in outcome.expected.observed if event.get("event") == "optimizer"), None)
        if expected is None:
            raise GraderFault("the check 'optimizer' needs a reference that builds an nnx.Optimizer")
        if not any(_is_same(event, expected, tolerances) for event in built):
            told = f"{outcome.case.id}: "
            return Finding(False, told + _explain(built, expected, public=outcome.case.public), "wrong_structure")
    return Finding(True, f"Seen in every case: {_ASKED}.")


def _is_same(event: dict[str, Any], expected: dict[str, Any], tolerances: Tolerances) -> bool:
    got = event.get("updates")
    if event.get("wrt") != expected["wrt"] or not isinstance(got, dict):
        return False
    # A leaf that the model lacks has no gradient either, and that is for the check `update` to say.
    pairs = [
        (update, other)
        for path, update in expected["updates"].items()
        for name, other in got.items()
        if _matches(name, path)
    ]
    return bool(pairs) and all(compare(update, other, tolerances) is None for update, other in pairs)


def _matches(name: str, path: str) -> bool:
    # A model that wraps the layer puts names between the step and the path.
    step, _, leaf = path.partition("/")
    return name == path or (name.startswith(f"{step}/") and name.endswith(f"/{leaf}"))


def _same_rate(event: dict[str, Any], expected: dict[str, Any]) -> bool:
    rate, wanted = event.get("lr"), expected["lr"]
    # A rate that went through a float32 array is no longer the same double.
    return isinstance(rate, float) and math.isclose(rate, wanted, rel_tol=1e-6, abs_tol=1e-12)


def _explain(built: list[dict[str, Any]], expected: dict[str, Any], *, public: bool) -> str:
    if not built:
        return f"no nnx.Optimizer was built. Build it as {_ASKED}."
    event = built[-1]
    if event.get("wrt") != expected["wrt"]:
        return "the optimizer was not built with wrt=nnx.Param."
    if event.get("tx") == "sgd" and event.get("momentum") != expected["momentum"]:
        return "optax.sgd was given a momentum, which this problem does not ask for."
    if event.get("tx") == "sgd" and not _same_rate(event, expected):
        values = f": expected {expected['lr']:g}, got {event['lr']}" if public else ""
        return f"optax.sgd was not given the learning rate of the call{values}."
    return (
        "the optimizer's transform does not do what optax.sgd(lr) does: tried on three gradients g in a row, its "
        f"updates are not -lr * g each time. Build it as {_ASKED}."
    )
