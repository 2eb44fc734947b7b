"""How the judge reads an exported program, even one that something other than the runner sent."""

import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.modes.program.examine import examine
from grader.modes.program.export import Export, States, export, later_states, two_steps_of
from grader.modes.program.signatures import signatures_of
from grader.modes.program.verify import verify
from grader.package.package import Package, ProgramManifest
from grader.review.reader import read_package
from grader.sandbox.null_sandbox import NullSandbox, NullSession
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
    "for_chips": {},
    "chip_faults": {},
}
EAGER = EXPORTED | {"init": None}
STEP = {"outputs": [STATE["w"], STATE["n"], np.array(0.0, np.float32)], "replicas": {}}
CENSUS = {
    **{"partitions": 8, "dot_flops": 0, "constant_bytes": 0},
    **{key: [] for key in ["collectives", "dots", "aliases", "argument_bytes", "output_bytes"]},
    **{key: [] for key in ["largest_arrays", "summed_products"]},
}


def case(number: int, *, public: bool) -> Case:
    name = f"{'public' if public else 'hidden'}-{number}"
    return Case(name, public, {"seed": number, "x": np.ones((2, 24, 2), np.float32)})


CASES = [case(1, public=True), case(22, public=False), case(33, public=False)]


@pytest.fixture(scope="module")
def move_mean() -> Package:
    return read_package(Path(__file__).parents[2] / "packages" / "move_mean")


@pytest.fixture(scope="module")
def eager(move_mean: Package) -> ProgramManifest:
    """The same problem, where `init` runs in the runner."""
    return with_program(move_mean.manifest, export_init=False)


def with_program(manifest: ProgramManifest, **changes: Any) -> ProgramManifest:
    return manifest.model_copy(update={"program": manifest.program.model_copy(update=changes)})


@forged_settings
@given(
    first=replies({name: st.just(node_of(value)) | nodes for name, value in EAGER.items()}),
    both=replies({"two_steps": st.just(node_of(BYTES)) | nodes}),
    more=replies({"states": nodes}),
)
def test_any_reply_to_an_export_is_an_export_or_the_submissions_fault(eager, first, both, more):
    (signature,) = signatures_of(eager, CASES)
    with ForgedSandbox([frame_of(first), frame_of(both), frame_of(more)]).open(RunnerSpec(8, eager.limits)) as session:
        try:
            exported = export(session, eager, {"x": 8}, signature)
            two_steps = two_steps_of(session, {"x": 8}, 0)
            states = later_states(session, eager, {"x": 8}, signature, exported, 0)
        except SubmissionFault:
            return
    assert exported.outputs == (*exported.states[0], "loss")
    assert two_steps.dtype == np.uint8
    assert len(exported.states + states) == len(CASES)


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
        {"for_chips": {"cuda": BYTES}},
        {"chip_faults": {"tpu": "no"}},
    ],
    ids=range(11),
)
def test_an_export_of_another_form_is_refused(move_mean, change):
    session = NullSession(lambda message, values: ({"ok": True}, EXPORTED | change), NOTHING)
    (signature,) = signatures_of(move_mean.manifest, CASES[:1])
    with pytest.raises(SubmissionFault, match="another form"):
        export(session, move_mean.manifest, {"x": 8}, signature)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"for_chips": {"cuda": BYTES}},
        {"for_chips": {"cuda": BYTES, "tpu": BYTES}, "chip_faults": {"tpu": "no"}},
        {"for_chips": {"cuda": np.zeros(4, np.int8)}, "chip_faults": {"tpu": "no"}},
        {"for_chips": {"cuda": BYTES}, "chip_faults": {"tpu": 1}},
    ],
    ids=range(5),
)
def test_each_platform_has_a_program_or_a_fault(move_mean, change):
    found = {"for_chips": {"cuda": BYTES}, "chip_faults": {"tpu": "no"}}
    (signature,) = signatures_of(move_mean.manifest, CASES[:1])

    def exported(reply: dict[str, object]) -> Export:
        session = NullSession(lambda message, values: ({"ok": True}, EXPORTED | reply), NOTHING)
        mesh = {"x": 8}
        return export(session, move_mean.manifest, mesh, signature, lowerings=["cuda", "tpu"])

    assert exported(found).for_chips.keys() == {"cuda"}
    with pytest.raises(SubmissionFault, match="another form"):
        exported({"for_chips": {}, "chip_faults": {}} | change)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"w": STATE["w"]}, "wrong_structure"),
        ({**STATE, "w": np.ones((8, 3), np.float32)}, "wrong_shape"),
        ({**STATE, "w": np.ones((8, 2), np.float16)}, "wrong_dtype"),
    ],
)
def test_leaves_that_depend_on_the_seed_are_the_submissions_fault(eager, other, reason):
    replies_ = iter([EAGER, {"states": [STATE, other]}])
    session = NullSession(lambda message, values: ({"ok": True}, next(replies_)), NOTHING)
    (signature,) = signatures_of(eager, CASES)
    exported = export(session, eager, {"x": 8}, signature)
    with pytest.raises(SubmissionFault) as caught:
        later_states(session, eager, {"x": 8}, signature, exported, 0)
    assert caught.value.reason == reason


@pytest.mark.parametrize("states", [None, [STATE], [STATE, STATE, STATE], [STATE, {"w": 1.0}]], ids=range(4))
def test_states_of_another_form_are_refused(eager, states):
    replies_ = iter([EAGER, {"states": states}])
    session = NullSession(lambda message, values: ({"ok": True}, next(replies_)), NOTHING)
    (signature,) = signatures_of(eager, CASES)
    exported = export(session, eager, {"x": 8}, signature)
    with pytest.raises(SubmissionFault, match="another form"):
        later_states(session, eager, {"x": 8}, signature, exported, 0)


@pytest.mark.parametrize("both", [None, "text", np.zeros(4, np.int8), [BYTES]], ids=range(4))
def test_two_steps_of_another_form_are_refused(both):
    session = NullSession(lambda message, values: ({"ok": True}, {"two_steps": both}), NOTHING)
    with pytest.raises(SubmissionFault, match="another form"):
        two_steps_of(session, {"x": 8}, 0)


@pytest.mark.parametrize("hidden_alone", [False, True])
def test_output_is_sealed_before_a_hidden_seed_enters_the_process(eager, hidden_alone):
    """Otherwise the output of `init` for a hidden case would be shown."""
    happened: list[Any] = []

    def answer(message: dict[str, Any], values: dict[str, object]) -> Any:
        happened.append(message["seeds"])
        states = [STATE] * len(message["seeds"])
        return {"ok": True}, {**EAGER, "states": states} if message["op"] == "export" else {"states": states}

    session = NullSession(answer, NOTHING)
    session.seal_output = lambda: happened.append("sealed")  # type: ignore[method-assign]
    (signature,) = signatures_of(eager, CASES[1:] if hidden_alone else CASES)
    exported = export(session, eager, {"x": 8}, signature)
    later_states(session, eager, {"x": 8}, signature, exported, 0)
    assert happened == (["sealed", [22, 33]] if hidden_alone else [[1], "sealed", [22, 33]])


def test_what_compiling_does_not_need_is_asked_for_when_every_program_has_been_exported(eager):
    """So that programs are compiled meanwhile; each state and program of two steps is that of its own mesh."""
    asked: list[Any] = []
    ran: list[int] = []

    def answer(message: dict[str, Any], values: dict[str, Any]) -> Any:
        match message["op"]:
            case "export":
                asked.append(("export", message["mesh"], message["seeds"]))
            case "states":
                asked.append(("states", message["mesh"], message["number"], message["seeds"]))
                return {"ok": True}, {"states": [{**STATE, "n": np.array(message["number"] + 7, np.int32)}] * 2}
            case "two_steps":
                asked.append(("two_steps", message["mesh"], message["number"]))
                return {"ok": True}, {"two_steps": np.array([message["number"]], np.uint8)}
            case "second_step":
                return {"ok": True, "retraced": bool(values["two_steps"][0])}, {}
            case "run":
                ran.append(int(values["state"][1]))
        return honest_reply(message, values)

    manifest = with_program(eager, meshes=[{"x": 8}, {"y": 8}])
    sandbox = NullSandbox(answer)
    with sandbox.open(RunnerSpec(8, manifest.limits)) as session:
        programs = examine(manifest, CASES, sandbox, session).programs
    assert asked == [
        ("export", {"x": 8}, [1]),
        ("export", {"y": 8}, [1]),
        ("two_steps", {"x": 8}, 0),
        ("two_steps", {"y": 8}, 1),
        ("states", {"x": 8}, 0, [22, 33]),
        ("states", {"y": 8}, 1, [22, 33]),
    ]
    assert [list(program.runs) for program in programs] == [[each.id for each in CASES]] * 2
    assert sorted(ran) == [0, 0, 7, 7, 8, 8]
    assert [program.measured.facts.retraced for program in programs] == [False, True]
    assert [program.raw["facts"]["retraced"] for program in programs] == [False, True]


@pytest.mark.parametrize("retraced", [None, 0, "no"])
def test_a_verifier_has_to_say_whether_a_program_is_traced_again(eager, retraced):
    def answer(message: dict[str, Any], values: dict[str, Any]) -> Any:
        if message["op"] == "second_step":
            return {"ok": True, "retraced": retraced}, {}
        return honest_reply(message, values)

    sandbox = NullSandbox(answer)
    with sandbox.open(RunnerSpec(8, eager.limits)) as session, pytest.raises(SubmissionFault) as caught:
        examine(eager, CASES[:1], sandbox, session)
    assert caught.value.reason == "not_exportable"


def test_no_program_of_two_steps_is_asked_for_if_no_check_reads_it(eager):
    asked: list[str] = []

    def answer(message: dict[str, Any], values: dict[str, Any]) -> Any:
        asked.append(message["op"])
        return honest_reply(message, values)

    manifest = eager.model_copy(update={"checks": [each for each in eager.checks if each.id != "retrace"]})
    sandbox = NullSandbox(answer)
    with sandbox.open(RunnerSpec(8, manifest.limits)) as session:
        programs = examine(manifest, CASES[:1], sandbox, session).programs
    assert [program.measured.facts.retraced for program in programs] == [None, None]
    assert set(asked) == {"export", "compile", "run"}


def test_the_first_program_is_passed_on_while_the_next_one_is_exported(eager):
    is_told = threading.Event()
    told: list[Any] = []

    def answer(message: dict[str, Any], values: dict[str, Any]) -> Any:
        if message["op"] == "export":
            assert message["mesh"] == {"x": 8} or is_told.wait(60)
        return honest_reply(message, values)

    def on_first(found: Any) -> None:
        told.append(found)
        is_told.set()

    manifest = with_program(eager, meshes=[{"x": 8}, {"y": 8}])
    sandbox = NullSandbox(answer)
    with sandbox.open(RunnerSpec(8, manifest.limits)) as session:
        programs = examine(manifest, CASES[:1], sandbox, session, on_first=on_first).programs
    assert told == [programs[0]]
    assert [each.measured.mesh for each in programs] == [{"x": 8}, {"y": 8}]


def honest_reply(message: dict[str, Any], values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, object]]:
    """What the runner and the verifiers of a submission answer that is accepted."""
    match message["op"]:
        case "export":
            return {"ok": True}, {**EAGER, "states": [STATE] * len(message["seeds"])}
        case "two_steps":
            return {"ok": True}, {"two_steps": BYTES}
        case "states":
            return {"ok": True}, {"states": [STATE] * len(message["seeds"])}
        case "compile":
            outputs = [leaf(), leaf("int32", ()), leaf(shape=())]
            inputs = [*outputs[:2], leaf(shape=(24, 2))]
            found = facts(outputs, inputs=inputs, census=CENSUS, products_outside=0)
            return {"ok": True, "facts": found}, {}
        case "run":
            return {"ok": True}, {"steps": [STEP] * message["steps"]}
        case "second_step":
            return {"ok": True, "retraced": False}, {}
    return {"ok": True}, {}


def leaf(dtype: str = "float32", shape: tuple[int, ...] = (8, 2)) -> dict[str, Any]:
    slices = [[[0, size] for size in shape] for _ in range(8)]
    return {"shape": list(shape), "dtype": dtype, "spec": "P()", "placed": True, "slices": slices}


def facts(outputs: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    memory = {"argument_bytes": 1, "output_bytes": 1, "temporary_bytes": 1, "alias_bytes": 0}
    usual = {
        "devices": 8,
        "inputs": [],
        "outputs": outputs,
        "memory": memory,
        "written": [],
        "written_turns": [],
        "unstated_products": 0,
        "retraced": None,
        "rounded": [],
        "donated": 0,
        "operations": [],
    }
    return {**usual, **changes}


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
    exported = Export(BYTES, None, (STATE,), ("w", "n", "loss"))
    (signature,) = signatures_of(move_mean.manifest, CASES[:1])
    with pytest.raises(SubmissionFault) as caught:
        verify(session, move_mean.manifest, {"x": 8}, signature, exported, States((STATE,), Future()))
    assert caught.value.reason == reason


def test_a_program_of_init_with_other_outputs_is_the_submissions_fault(move_mean):
    replied = EXPORTED | {"two_steps": BYTES}
    sandbox = NullSandbox(lambda message, values: ({"ok": True, "facts": facts([leaf()])}, replied))
    with sandbox.open(RunnerSpec(8, move_mean.manifest.limits)) as session, pytest.raises(SubmissionFault) as caught:
        examine(move_mean.manifest, CASES[:1], sandbox, session)
    assert caught.value.reason == "wrong_structure"
