"""Whatever a submission's process sends, and at whichever request, the whole verdict is `rejected`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from grader.checks.call_outcome import Answer
from grader.core import wire
from grader.core.errors import SubmissionFault
from grader.modes.call.reference_answers import CallPrepared
from grader.modes.mode import Prepared
from grader.modes.program.examine import examine
from grader.modes.program.reference_programs import ProgramPrepared
from grader.package.package import Package
from grader.sandbox.capture import Capture
from grader.sandbox.null_sandbox import NullSandbox, NullSession
from grader.sandbox.protocol import Output, RunnerSpec
from grader.verdicts.verdict import Verdict
from tests.grader.forged_replies import ForgedSandbox, frame_of
from tests.grader.golden_judge import package_of, verdict_of
from tests.grader.modes.program.test_examine import CASES, EAGER, honest_reply

RESULT = np.ones(2, np.float32)
PUBLIC, HIDDEN = (replace(CASES[0], id="public-2"), CASES[1])
ALL_CASES = (CASES[0], PUBLIC, HIDDEN, CASES[2])
Reply = tuple[dict[str, Any], dict[str, object]]


def honest(message: dict[str, Any], values: dict[str, Any]) -> Reply:
    """The processes of a submission that is accepted, in either mode."""
    if message["op"] == "call":
        return {"ok": True}, {"result": RESULT, "observed": []}
    return honest_reply(message, values)


def call_mode() -> tuple[Package, Prepared]:
    answer = Answer(RESULT, ())
    return package_of("call", []), CallPrepared(ALL_CASES, {case.id: answer for case in ALL_CASES})


def program_mode() -> tuple[Package, Prepared]:
    package = package_of("program", [{"id": "retrace"}])
    sandbox = NullSandbox(honest)
    with sandbox.open(RunnerSpec(8, package.manifest.limits)) as session:
        programs = examine(package.manifest, ALL_CASES, sandbox, session).programs  # type: ignore[arg-type]
    return package, ProgramPrepared(ALL_CASES, programs)


# The requests to the process of a submission, in order.
MODES = {
    "call": (call_mode, [{"op": "load"}, *[{"op": "call"}] * 4]),
    "program": (
        program_mode,
        [
            {"op": "load"},
            *[{"op": "export", "seeds": [1, 1]}] * 2,
            *[{"op": "two_steps"}] * 2,
            *[{"op": "states", "seeds": [22, 33]}] * 2,
        ],
    ),
}
VERIFIER = NullSession(honest, Output("", "", truncated=False))


def graded(mode: str, sandbox: Any) -> Verdict:
    package, prepared = MODES[mode][0]()
    return verdict_of(sandbox, package, prepared, None, hidden=True)


def frames_of(mode: str) -> list[bytes]:
    return [wire.pack(*honest(request, {})) for request in MODES[mode][1]]


def array_frame(dtype: str, shape: Sequence[int], payload: bytes = b"") -> bytes:
    node = {"t": "array", "dtype": dtype, "shape": list(shape)}
    return frame_of({"ok": True, "values": {name: node for name in ("result", "observed", *EAGER)}}, payload)


BAD_FRAMES = {
    "not JSON": wire.HEADER.pack(1, 0) + b"{",
    "no values": frame_of({"ok": True}),
    "unknown reason": frame_of({"ok": False, "reason": "accepted", "message": "", "detail": {}, "values": {}}),
    "neither": frame_of({"ok": None, "values": {}}),
    "unknown dtype": array_frame("object", [1], b"x"),
    "other size": array_frame("float32", [1], b"x"),
    "huge and empty": array_frame("float32", [0, 2**62]),
    "long and empty": array_frame("float32", [0, 2**39]),
    "many dimensions": array_frame("float32", [1] * 40),
    "huge payload": wire.HEADER.pack(2, 1 << 60) + b"{}",
    "huge manifest": wire.HEADER.pack(1 << 31, 0),
    "half a frame": wire.HEADER.pack(100, 0) + b"{",
    "nothing": b"",
}


@pytest.mark.parametrize("mode", MODES)
def test_an_honest_process_is_accepted(mode: str) -> None:
    assert graded(mode, ForgedSandbox(frames_of(mode), VERIFIER)).status == "accepted"


@pytest.mark.parametrize("kind", BAD_FRAMES)
@pytest.mark.parametrize("mode", MODES)
def test_a_bad_frame_rejects_at_every_request(mode: str, kind: str) -> None:
    """Whether the process then sends nothing else, or honest frames."""
    good = frames_of(mode)
    for number in range(len(good)):
        for rest in [], good[number + 1 :]:
            if (rest and kind in ("half a frame", "nothing")) or (kind == "long and empty" and number == 0):
                # Together with `rest`, these are other frames; and the values in a reply to `load` are not read.
                continue
            verdict = graded(mode, ForgedSandbox([*good[:number], BAD_FRAMES[kind], *rest], VERIFIER))
            assert (verdict.status, verdict.score) == ("rejected", 0), (number, rest)


@pytest.mark.parametrize("kind", ["not JSON", "huge payload", "half a frame"])
@pytest.mark.parametrize("number", range(4))
def test_the_cases_after_a_bad_frame_are_not_run(kind: str, number: int) -> None:
    good = frames_of("call")
    verdict = graded("call", ForgedSandbox([*good[: number + 1], BAD_FRAMES[kind], *good[number + 2 :]]))
    assert [case.passed for case in verdict.cases] == [place < number for place in range(4)]
    assert {case.message for case in verdict.cases[number + 1 :]} <= {"Not run: an earlier case ended the process."}


@pytest.mark.parametrize("mode", MODES)
def test_a_flood_before_the_first_hidden_case_is_the_submissions(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is noticed when output is sealed, between two requests."""
    monkeypatch.setattr(Capture, "FLOOD_BYTES", 100)
    verdict = graded(mode, ForgedSandbox(frames_of(mode), VERIFIER, output=b"x" * 101))
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", "output_limit", 0)
    assert [case.passed for case in verdict.cases] == ([True, True, False, False] if mode == "call" else [])


class _Raising(NullSession):
    """From call `at` on, its process is dead. `calls` counts those of all sessions of one grading."""

    def __init__(self, calls: Iterator[int], at: int) -> None:
        super().__init__(honest, Output("", "", truncated=False))
        self._calls, self._at = calls, at
        for name in ("request", "forgive", "seal_output", "output"):
            setattr(self, name, self._counted(getattr(self, name), once=name == "output"))

    def _counted(self, call: Callable[..., Any], *, once: bool) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            number = next(self._calls)
            if number == self._at or (number > self._at and not once):
                self.alive = False
                raise SubmissionFault("output_limit", "It printed too much.")
            return call(*args, **options)

        return counted


class _RaisingSandbox(NullSandbox):
    def __init__(self, at: int) -> None:
        super().__init__(honest)
        self.calls, self._at = count(), at

    def open(self, *args: Any, **options: Any) -> NullSession:
        return _Raising(self.calls, self._at)

    @contextmanager
    def verifier(self, *args: Any, **options: Any) -> Iterator[NullSession]:
        yield _Raising(self.calls, self._at)


@pytest.mark.parametrize(("mode", "fewest"), [("call", 7), ("program", 18)])
def test_a_fault_from_any_call_of_a_session_rejects(mode: str, fewest: int) -> None:
    statuses: list[str] = []
    while "accepted" not in statuses:
        verdict = graded(mode, _RaisingSandbox(len(statuses)))
        statuses.append(verdict.status)
        assert verdict.reason in (None, "output_limit")
    assert len(statuses) > fewest
    assert set(statuses[:-1]) == {"rejected"}
