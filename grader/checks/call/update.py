"""Was `optimizer.update` executed as often as in the reference, with the reference's gradients, on the model?"""

from typing import Any

from grader.checks.call.outcome import Outcome, Tolerances
from grader.checks.finding import Bounds as Bounds
from grader.checks.finding import Finding
from grader.compare import compare
from grader.verdict import Trust

TITLE = "The update is applied once, with the gradients"
TRUST: Trust = "observed"
_ANOTHER_MODEL = (
    "optimizer.update was given another model than the one that the optimizer was built for, so that one keeps its old "
    "parameters and the new ones are lost. `nnx.clone`, `nnx.merge` and `copy.deepcopy` make a new model: call update "
    "on the model itself, or copy the new state back with `nnx.update`."
)


def check(outcomes: list[Outcome], tolerances: Tolerances) -> Finding:
    """Pass when every case has the reference's number of updates, each with its gradients and on the same model."""
    for outcome in outcomes:
        if outcome.got is None:
            return Finding(False, "Not judged: a case did not come back.", "wrong_structure")
        expected, got = _updates(outcome.expected.observed), _updates(outcome.got.observed)
        told = f"{outcome.case.id}: "
        if len(got) != len(expected):
            return Finding(
                False,
                f"{told}optimizer.update was {_times(len(got))}; expected {_calls(len(expected))}.",
                "wrong_structure",
            )
        for one, other in zip(expected, got, strict=True):
            fault = _compare_gradients(one["gradients"], other.get("gradients"), tolerances, public=outcome.case.public)
            if fault is None and one.get("model") == "moved" and other.get("model") == "still":
                fault = _ANOTHER_MODEL
            if fault:
                return Finding(False, told + fault, "wrong_structure")
    return Finding(True, "Seen in every case, with the gradients of the loss.")


def _updates(observed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in observed if event.get("event") == "update"]


def _compare_gradients(expected: dict[str, Any], got: Any, tolerances: Tolerances, *, public: bool) -> str | None:
    leaves = got if isinstance(got, dict) else {}
    for path, gradient in expected.items():
        # A model that wraps the layer puts names before the path; the end of it stays.
        found = [leaf for name, leaf in leaves.items() if name == path or name.endswith(f"/{path}")]
        if not found:
            return f"optimizer.update was not given a gradient for `{path}`."
        mismatch = compare(gradient, found[0], tolerances)
        if mismatch is not None:
            told = mismatch.message if public else f"{mismatch.kind}."
            return f"the gradient of `{path}` that optimizer.update was given is not the loss's: {told}"
    return None


def _times(count: int) -> str:
    return {0: "never called", 1: "called once", 2: "called twice"}.get(count, f"called {count} times")


def _calls(count: int) -> str:
    return {0: "no call", 1: "one call"}.get(count, f"{count} calls")
