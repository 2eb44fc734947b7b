"""Was the optimizer built as asked: `nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)`?"""

import math
from typing import Any

from grader.checks.call.outcome import Outcome, Tolerances
from grader.checks.finding import Bounds as Bounds
from grader.checks.finding import Finding
from grader.errors import GraderFault
from grader.verdict import Trust

TITLE = "The optimizer is built as asked"
TRUST: Trust = "observed"
_ASKED = "nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)"


def check(outcomes: list[Outcome], tolerances: Tolerances) -> Finding:
    """Pass when in every case some optimizer has the reference's transform, learning rate and `wrt`."""
    for outcome in outcomes:
        if outcome.got is None:
            return Finding(False, "Not judged: a case did not come back.", "wrong_structure")
        # An update carries the same facts: under jit the optimizer may have been built when an earlier case was traced.
        built = outcome.got.observed
        expected = next((event for event in outcome.expected.observed if event.get("event") == "optimizer"), None)
        if expected is None:
            raise GraderFault("the check 'optimizer' needs a reference that builds an nnx.Optimizer")
        if not any(_is_same(event, expected) for event in built):
            told = f"{outcome.case.id}: " if outcome.case.public else "In a hidden case: "
            return Finding(False, told + _explain(built, expected, public=outcome.case.public), "wrong_structure")
    return Finding(True, f"Seen in every case: {_ASKED}.")


def _is_same(event: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(event.get(key) == expected[key] for key in ("tx", "momentum", "wrt")) and _same_rate(event, expected)


def _same_rate(event: dict[str, Any], expected: dict[str, Any]) -> bool:
    rate, wanted = event.get("lr"), expected["lr"]
    # A rate that went through a float32 array is no longer the same double.
    return isinstance(rate, float) and math.isclose(rate, wanted, rel_tol=1e-6, abs_tol=1e-12)


def _explain(built: list[dict[str, Any]], expected: dict[str, Any], *, public: bool) -> str:
    if not built:
        return f"no nnx.Optimizer was built. Build it as {_ASKED}."
    event = built[-1]
    if event.get("tx") != "sgd":
        return f"the optimizer's transform does not come from optax.sgd. Build it as {_ASKED}."
    if event.get("momentum") != expected["momentum"]:
        return "optax.sgd was given a momentum, which this problem does not ask for."
    if event.get("wrt") != expected["wrt"]:
        return "the optimizer was not built with wrt=nnx.Param."
    values = f": expected {expected['lr']:g}, got {event['lr']}" if public else ""
    return f"optax.sgd was not given the learning rate of the call{values}."
