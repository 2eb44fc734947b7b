"""Check that `optimizer.update` ran as often as in the reference, with the same gradients, on the right model."""

from grader.checks.call_outcome import CallSubject, Observed, Tolerances
from grader.checks.compare import compare
from grader.checks.finding import Finding, Located, rejected
from grader.checks.wording import Wording
from grader.package.package import CallManifest, CheckBounds
from grader.verdicts.verdict import Trust

TITLE = "The update is applied once, with the right gradients"
TRUST: Trust = "observed"
Bounds = CheckBounds
_ANOTHER_MODEL = (
    "optimizer.update received a different model from the one that the optimizer was built for. The original keeps its "
    "old parameters, and the new ones are lost. `nnx.clone`, `nnx.merge` and `copy.deepcopy` make a new model: update "
    "the original, or copy the new state back with `nnx.update`."
)


def describe(bounds: Bounds, manifest: CallManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        (
            "`optimizer.update` runs as often as in the reference, with the same gradients, on the model that the "
            "optimizer was built for",
        ),
        ("gradients are equal within the tolerance of the values",),
    )


def check(subject: CallSubject, bounds: Bounds) -> Finding:
    """Pass if every case has as many updates as the reference, with the same gradients, on the optimizer's model."""
    # The tolerances by dtype: those of outputs do not apply to gradients and updates.
    tolerances = {**subject.tolerances}
    for outcome in subject.outcomes:
        if outcome.got is None:
            return Finding(False, "Not judged: a case did not return.", "wrong_structure")
        expected, got = _updates(outcome.expected.observed), _updates(outcome.got.observed)
        if len(got) != len(expected):
            message = f"optimizer.update was {_times(len(got))}; expected {_calls(len(expected))}."
            return rejected([Located(f"{outcome.case.id}: ", message)], "wrong_structure", [])
        for one, other in zip(expected, got, strict=True):
            fault = _compare_gradients(one["gradients"], other.get("gradients"), tolerances, public=outcome.case.public)
            if fault is None and one.get("model") == "moved" and other.get("model") == "still":
                fault = _ANOTHER_MODEL
            if fault:
                return rejected([Located(f"{outcome.case.id}: ", fault)], "wrong_structure", [])
    return Finding(True, "Every case applies the gradients of the loss.")


def _updates(observed: list[Observed]) -> list[Observed]:
    return [event for event in observed if event.get("event") == "update"]


def _compare_gradients(expected: dict[str, object], got: object, tolerances: Tolerances, *, public: bool) -> str | None:
    leaves = got if isinstance(got, dict) else {}
    for path, gradient in expected.items():
        # A model that wraps the layer puts names before the path, but keeps its end.
        found = [leaf for name, leaf in leaves.items() if name == path or name.endswith(f"/{path}")]
        if not found:
            return f"optimizer.update received no gradient for `{path}`."
        mismatch = compare(gradient, found[0], tolerances)
        if mismatch is not None:
            difference = mismatch.message if public else f"{mismatch.kind}."
            return f"optimizer.update received the wrong gradient for `{path}`: {difference}"
    return None


def _times(count: int) -> str:
    return {0: "never called", 1: "called once", 2: "called twice"}.get(count, f"called {count} times")


def _calls(count: int) -> str:
    return {0: "no call", 1: "one call"}.get(count, f"{count} calls")
