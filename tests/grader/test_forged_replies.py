"""Whatever a hostile process answers instead of the runner, the submission is at fault, never the grader."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.core import wire
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.verdict import Verdict
from tests.grader.forged_replies import ForgedSandbox, deep, frame_of, node_of, nodes, replies
from tests.selection import everything

LOAD = frame_of({"ok": True, "values": {}})
EVENT = {
    "event": "update",
    "tx": "sgd",
    "momentum": False,
    "wrt": "Param",
    "lr": 0.5,
    "gradients": {"kernel": np.ones((1, 1), np.float32)},
    "updates": {"0/kernel": np.ones((1, 1), np.float32)},
    "model": "moved",
}
INPUTS = {"seed": 0.0, "x": np.ones((2, 1), np.float32), "y": np.ones((2, 1), np.float32), "num_shards": 1.0, "lr": 0.5}
RESULT = np.ones(1, np.float32)
forged_settings = settings(
    max_examples=150 if everything() else 50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


def honest(message: dict[str, Any], values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, object]]:
    """The package's own code, as far as the judge requests it."""
    match message["op"]:
        case "cases":
            return {"ok": True}, {"cases": [INPUTS]}
        case "call":
            return {"ok": True}, {"result": RESULT, "observed": [EVENT, {**EVENT, "event": "optimizer"}]}
    return {"ok": True}, {}


@pytest.fixture(scope="module")
def judge(fsdp_step: Package, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    made = Judge(NullSandbox(honest), b"s", tmp_path_factory.mktemp("cache"))
    made.prepare(fsdp_step)
    return made


def graded(judge: Judge, package: Package, frames: list[bytes], **options: Any) -> Verdict:
    judge._modes.sandbox = ForgedSandbox(frames, **options)  # type: ignore[assignment]
    verdict = judge.judge(package, "the source")
    assert verdict.status != "failed"
    # It can be stored, sent, and read as JSON.
    text = verdict.model_dump_json()
    assert len(text.encode()) < 1 << 20
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in a verdict"))
    return verdict


def _events(event: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Events of which some fields are anything."""
    fields = {name: st.just(node_of(value)) | nodes for name, value in event.items()}
    made = st.fixed_dictionaries({}, optional=fields)
    items = made.map(lambda items: {"t": "dict", "items": [list(pair) for pair in items.items()]})
    return st.lists(items | nodes, max_size=3).map(lambda items: {"t": "list", "items": items})


def called(result: object, observed: object = None) -> bytes:
    return frame_of({"ok": True, "values": {"result": result, "observed": observed or deep(0)}})


@forged_settings
@given(
    load=replies({}),
    calls=st.lists(
        replies({"result": st.just(node_of(RESULT)) | nodes, "observed": _events(EVENT) | nodes}),
        min_size=1,
        max_size=2,
    ),
)
def test_any_answers_to_load_and_call_are_the_submissions(judge, fsdp_step, load, calls):
    answers = [frame_of(call) for call in calls]
    graded(judge, fsdp_step, [LOAD, *answers])
    assert graded(judge, fsdp_step, [frame_of(load), *answers]).status in ("rejected", "accepted")


def raw_frame(manifest: bytes) -> bytes:
    return wire.HEADER.pack(len(manifest), 0) + manifest


def array(dtype: str, shape: list[int]) -> dict[str, Any]:
    return {"t": "array", "dtype": dtype, "shape": shape}


@pytest.mark.parametrize(
    "frame",
    [
        called(array("float32", [0, 2**39, 2**39])),
        called(array("float32", [1] * 40)),
        called(array("float32", [0] * 16)),
        called(array("float32", [0, 2**62])),
        called(deep(40)),
        raw_frame(b'{"ok":true,"values":' + b"[" * 200_000),
        called({"t": "int", "v": "9" * 21}),
        called({"t": "dict", "items": [["a", deep(0)], ["a", deep(0)]]}),
        called({"t": "dict", "items": [["\ud800" * 50_000, deep(0)]]}),
        called(node_of(RESULT), node_of([{**EVENT, "event": np.ones(3, np.int8)}])),
        called(node_of(RESULT), node_of([{**EVENT, "gradients": {"kernel": "x"}}])),
        called(node_of(RESULT), node_of([{**EVENT, "event": "optimizer"}, {**EVENT, "model": np.ones(3, np.int8)}])),
        called(node_of(RESULT), node_of([{**EVENT, "event": "optimizer", "updates": {"0/kernel": [1]}}])),
        called(node_of(RESULT), node_of([{**EVENT, "lr": float("nan")}])),
        called(node_of(RESULT), node_of([{**EVENT, "event": "optimizer", "lr": 10**18}])),
        called(node_of(RESULT), node_of([{"event": "update"}])),
        frame_of({"ok": True, "values": {"result": node_of(RESULT)}, "time": float("nan")}),
        frame_of({"ok": False, "reason": ["error"], "message": "", "detail": {}, "values": {}}),
        frame_of({"ok": False, "reason": "error", "message": "m", "values": {}, "detail": {
            "type": "E", "traceback": [{"line": 10**4000, "function": "f", "text": "t"}], "line": 10**4000}}),
        frame_of({"ok": False, "reason": "error", "message": "\ud800", "detail": {"type": "\ud800"}, "values": {}}),
    ],
    ids=range(20),
)  # fmt: skip
def test_an_answer_of_another_form_rejects_the_submission(judge, fsdp_step, frame):
    assert graded(judge, fsdp_step, [LOAD, frame, frame]).status == "rejected"


@pytest.mark.parametrize("manifest", [b'{"ok":true,"ok":true,"values":{}}', b'{"ok":true,"values":{},"x":1e999}'])
def test_what_json_does_not_have_is_refused(judge, fsdp_step, manifest):
    assert graded(judge, fsdp_step, [raw_frame(manifest)]).reason == "error"
