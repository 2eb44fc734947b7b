"""Golden verdicts of functions: what each case returns, or how it fails."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from grader.checks.call_outcome import Answer
from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.core.reasons import Reason
from grader.core.wire import Frame
from grader.modes.call.reference_answers import CallPrepared
from grader.sandbox.protocol import Output
from grader.verdicts.verdict import Verdict
from tests.grader.golden_judge import Groups, Quiet, array, package_of, verdict_of

EXPECTED = {"loss": array(1, 2, 3, 4), "n": 3}
OBSERVED = {"tx": "sgd", "momentum": False, "wrt": "Param", "lr": 0.1, "model": "moved"}
GRADIENTS, UPDATES = {"w": array(1, 2)}, {"0/w": array(-0.1, -0.2)}
OPTIMIZER = OBSERVED | {"event": "optimizer", "gradients": {}, "updates": UPDATES}
UPDATE = OBSERVED | {"event": "update", "gradients": GRADIENTS, "updates": UPDATES}
RIGHT: dict[str, Any] = {"result": EXPECTED, "observed": [OPTIMIZER, UPDATE]}
Reaction = Callable[[], dict[str, Any]]


def says(result: object = EXPECTED, observed: Sequence[dict[str, Any]] = (OPTIMIZER, UPDATE)) -> Reaction:
    return lambda: {"result": result, "observed": list(observed)}


def fails(reason: Reason, message: str = "what went wrong", **detail: object) -> Reaction:
    def answer() -> dict[str, Any]:
        raise SubmissionFault(reason, message, **detail)

    return answer


def call(
    *answers: Reaction,
    load: Reaction | None = None,
    hidden: bool = True,
    known: str | None = None,
    checks: Sequence[dict[str, Any]] = ({"id": "optimizer"}, {"id": "update"}),
    source: str = "source",
) -> Verdict:
    """Two public cases and a hidden one. A case for which no answer is given gets the right answer."""
    package = package_of("call", [{"id": "values"}, *checks])
    cases = tuple(
        Case(name, name.startswith("public"), {"seed": number, "x": array(number, 0.5)})
        for number, name in enumerate(("public-1", "public-2", "hidden-1"))
    )
    left = [*answers, *[says()] * (len(cases) - len(answers))]

    def answer(message: dict[str, Any], values: dict[str, object]) -> Frame:
        if message["op"] == "load":
            return {"ok": True}, load() if load else {}
        return {"ok": True}, left.pop(0)()

    sandbox = Quiet(answer, Output("printed", "", truncated=False))
    prepared = CallPrepared(cases, {case.id: Answer(EXPECTED, RIGHT["observed"]) for case in cases})
    return verdict_of(sandbox, package, prepared, known, hidden=hidden, source=source)


def written(source: str) -> Verdict:
    """A submission that is right in all cases, with this source."""
    return call(source=source, checks=[{"id": "source", "forbidden": [{"names": ["numpy"], "why": "Use JAX."}]}])


FRAMES = [{"line": 7, "function": "step", "text": "raise ValueError"}]
OTHER_OPTIMIZER = OPTIMIZER | {"wrt": "All"}
CALLS: Groups = {
    "call-values": {
        "accepted": call,
        "a run": partial(call, hidden=False),
        "wrong value": partial(call, says({"loss": array(8, 16, 24, 32), "n": 3})),
        "wrong number": partial(call, says({"loss": EXPECTED["loss"], "n": 4})),
        "not a number": partial(call, says({"loss": array(1, 2, 3, np.nan), "n": 3})),
        "of a zero": partial(call, says({"loss": array(1, 2, 3, np.inf), "n": 3})),
        "wrong in hidden cases": partial(call, says(), says(), says({"loss": array(-1, -2, -3, -4), "n": 3})),
        "wrong shape": partial(call, says({"loss": array(1, 2, 3, 4).reshape(2, 2), "n": 3})),
        "wrong dtype": partial(call, says({"loss": np.arange(4.0), "n": 3})),
        "wrong structure": partial(call, says([1, 2])),
        "known": partial(
            call,
            *[says({"loss": array(2, 4, 6, 8), "n": 3})] * 3,
            known="twice",
        ),
        "an exception": partial(
            call, fails("error", "no", type="ValueError", traceback=FRAMES), fails("error", "no", type="E")
        ),
        "an exception in a hidden case": partial(call, says(), says(), fails("error", "secret", type="KeyError")),
        "out of time": partial(call, says(), fails("time_limit")),
        **{
            f"{reason} in a hidden case": partial(call, says(), says(), fails(reason, ended_by="SIGSEGV"))
            for reason in ("time_limit", "memory_limit", "output_limit", "divergent_collective", "killed")
        },
    },
    "call-optimizer": {
        "none": partial(call, says(observed=[UPDATE | {"updates": {}}])),
        "another filter": partial(call, says(observed=[OTHER_OPTIMIZER, UPDATE | {"wrt": "All"}])),
        "another rate": partial(
            call,
            says(observed=[each | {"lr": 0.2, "updates": {"0/w": array(-0.2, -0.4)}} for each in (OPTIMIZER, UPDATE)]),
        ),
        "momentum": partial(
            call,
            says(observed=[each | {"momentum": True, "updates": {"0/w": array(1, 1)}} for each in (OPTIMIZER, UPDATE)]),
        ),
    },
    "call-update": {
        "never": partial(call, says(observed=[OPTIMIZER])),
        "twice": partial(call, says(observed=[OPTIMIZER, UPDATE, UPDATE])),
        "another gradient": partial(call, says(observed=[OPTIMIZER, UPDATE | {"gradients": {"w": array(2, 4)}}])),
        "no gradient": partial(call, says(observed=[OPTIMIZER, UPDATE | {"gradients": {}}])),
        "another model": partial(call, says(observed=[OPTIMIZER, UPDATE | {"model": "still"}])),
    },
    "call-source": {
        "passed": partial(written, "import jax\n"),
        "forbidden": partial(written, "import numpy as np\n\ndef step(x):\n    return np.sort(x)\n"),
        "unreadable": partial(written, "def"),
    },
    "never-ran": {
        **{
            reason: partial(call, load=fails(reason))
            for reason in ("time_limit", "memory_limit", "output_limit", "divergent_collective", "not_exportable")
        },
        "syntax_error": partial(call, load=fails("syntax_error", "invalid syntax", line=3, column=7)),
        "missing_entry": partial(call, load=fails("missing_entry", "no `step`", type="AttributeError")),
        "error": partial(call, load=fails("error", "no", type="PermissionError", traceback=FRAMES)),
        "killed": partial(call, load=fails("killed", "ended", ended_by="SIGSEGV")),
    },
}
