"""What the judge makes of an exported program, also of one that something else sent in the runner's place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.case import Case
from grader.errors import SubmissionFault
from grader.modes.program.examine import examine
from grader.modes.program.export import Export, export
from grader.modes.program.signatures import signatures_of
from grader.modes.program.verify import verify
from grader.package.package import Package
from grader.package.reader import read_package
from grader.sandbox.null import NullSandbox, NullSession
from grader.sandbox.protocol import Output, RunnerSpec
from tests.grader.forged_replies import ForgedSandbox, frame_of, node_of, nodes, replies
from tests.grader.test_forged_replies import forged_settings

NOTHING = Output(stdout="", stderr="", truncated=False)
STATE = {"w": np.ones((8, 2), np.float32), "n": np.zeros((), np.int32)}
BYTES = np.zeros(4, np.uint8)
EXPORTED: dict[str, Any] = {
    "artifact": BYTES,
    "init": BYTES,
    "states": [STATE],
    "outputs": ["w", "n", "loss"],
    "primitives": {"add": 1},
    "retraced": False,
}


def case(number: int, *, public: bool) -> Case:
    name = f"{'public' if public else 'hidden'}-{number}"
    return Case(name, public, {"seed": number, "x": np.ones((2, 24, 2), np.float32)})


CASES = [case(1, public=True), case(22, public=False), case(33, public=False)]


@pytest.fixture(scope="module")
def move_mean() -> Package:
    return read_package(Path(__file__).parents[2] / "packages" / "move_mean")


@forged_settings
@given(
    first=replies({name: st.just(node_of(value)) | nodes for name, value in EXPORTED.items()}),
    more=replies({"states": nodes}),
)
def test_any_reply_to_an_export_is_an_export_or_the_submissions_fault(move_mean, first, more):
    (signature,) = signatures_of(move_mean.manifest, CASES)
    with ForgedSandbox([frame_of(first), frame_of(more)]).open(RunnerSpec(8, move_mean.manifest.limits)) as session:
        try:
            exported = export(session, move_mean.manifest, {"x": 8}, signature)
        except SubmissionFault:
            return
    assert exported.outputs == (*exported.states[0], "loss")


@pytest.mark.parametrize(
    "change",
    [
        {"states": [{f"w{number}": BYTES for number in range(600)}]},
        {"states": [{"w" * 300: BYTES}], "outputs": ["w" * 300, "loss"]},
        {"outputs": ["w", "n", "loss", "loss"]},
        {"outputs": ["w", "loss"]},
        {"outputs": ["n", "w", "loss"]},
        {"states": [{**STATE, "w": 1.0}]},
        {"states": [STATE, STATE]},
        {"init": None},
        {"artifact": np.zeros(4, np.int8)},
        {"primitives": {"add": True}},
    ],
    ids=range(10),
)
def test_an_export_of_another_form_is_refused(move_mean, change):
    session = NullSession(lambda message, values: ({"ok": True}, EXPORTED | change), NOTHING)
    (signature,) = signatures_of(move_mean.manifest, CASES[:1])
    with pytest.raises(SubmissionFault, match="another form"):
        export(session, move_mean.manifest, {"x": 8}, signature)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"w": STATE["w"]}, "wrong_structure"),
        ({**STATE, "w": np.ones((8, 3), np.float32)}, "wrong_shape"),
        ({**STATE, "w": np.ones((8, 2), np.float16)}, "wrong_dtype"),
    ],
)
def test_leaves_that_depend_on_the_seed_are_the_submissions_fault(move_mean, other, reason):
    replies_ = iter([EXPORTED, {"states": [STATE, other]}])
    session = NullSession(lambda message, values: ({"ok": True}, next(replies_)), NOTHING)
    (signature,) = signatures_of(move_mean.manifest, CASES)
    with pytest.raises(SubmissionFault) as caught:
        export(session, move_mean.manifest, {"x": 8}, signature)
    assert caught.value.reason == reason


@pytest.mark.parametrize("hidden_alone", [False, True])
def test_output_is_sealed_before_a_hidden_seed_enters_the_process(move_mean, hidden_alone):
    """Else what `init` prints of a hidden case would be shown."""
    happened: list[Any] = []

    def answer(message: dict[str, Any], values: dict[str, object]) -> Any:
        happened.append(message["seeds"])
        states = [STATE] * len(message["seeds"])
        return {"ok": True}, {**EXPORTED, "states": states} if message["op"] == "export" else {"states": states}

    session = NullSession(answer, NOTHING)
    session.seal_output = lambda: happened.append("sealed")  # type: ignore[method-assign]
    (signature,) = signatures_of(move_mean.manifest, CASES[1:] if hidden_alone else CASES)
    export(session, move_mean.manifest, {"x": 8}, signature)
    assert happened == (["sealed", [22, 33]] if hidden_alone else [[1], "sealed", [22, 33]])


def leaf(dtype: str = "float32", shape: tuple[int, ...] = (8, 2)) -> dict[str, Any]:
    slices = [[[0, size] for size in shape] for _ in range(8)]
    return {"shape": list(shape), "dtype": dtype, "spec": "P()", "placed": True, "slices": slices}


def facts(outputs: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    memory = {"argument_bytes": 1, "output_bytes": 1, "temporary_bytes": 1, "alias_bytes": 0}
    return {"devices": 8, "inputs": [], "outputs": outputs, "memory": memory, "asked": [], "donated": 0, **changes}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (facts([leaf(), leaf("int4"), leaf()]), "wrong_dtype"),
        (facts([leaf(), leaf(shape=(1,) * 40), leaf()]), "wrong_shape"),
        (facts([leaf()]), "wrong_structure"),
        (facts([leaf(), leaf(), leaf()], donated=2**63), "not_exportable"),
    ],
    ids=["dtype", "rank", "number", "overflow"],
)
def test_a_program_that_no_case_can_be_compared_with_is_the_submissions_fault(move_mean, found, reason):
    session = NullSession(lambda message, values: ({"ok": True, "facts": found}, {}), NOTHING)
    exported = Export(BYTES, None, (STATE,), ("w", "n", "loss"), {}, False)
    (signature,) = signatures_of(move_mean.manifest, CASES[:1])
    with pytest.raises(SubmissionFault) as caught:
        verify(session, move_mean.manifest, {"x": 8}, signature, exported)
    assert caught.value.reason == reason


def test_a_program_of_init_with_other_outputs_is_the_submissions_fault(move_mean):
    sandbox = NullSandbox(lambda message, values: ({"ok": True, "facts": facts([leaf()])}, EXPORTED))
    with sandbox.open(RunnerSpec(8, move_mean.manifest.limits)) as session, pytest.raises(SubmissionFault) as caught:
        examine(move_mean.manifest, CASES[:1], sandbox, session)
    assert caught.value.reason == "wrong_structure"
