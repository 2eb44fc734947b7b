"""What the reference and the known submissions of fsdp_step return, without the judge around them."""

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "problems" / "fsdp_step"
ACCEPTED = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("submissions/accepted/*.py"))
REJECTED = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("submissions/rejected/*/*.py"))
PUBLIC = 2
# These differ only where a seed has a fraction or where x holds integers, which no public case has.
ONLY_HIDDEN = {"seed_rounded", "targets_cast_to_x_dtype"}
EXPECTED_ERRORS = {
    "error/collective_without_mesh": "NameError",
    "error/float_under_jit": "ConcretizationTypeError",
    "error/optimizer_without_wrt": "TypeError",
    "error/model_of_the_optimizer": "AttributeError",
    "error/model_returned_by_update": "TypeError",
    "error/rows_for_features": "TypeError",
    "error/seed_not_cast": "ValueError",
    "error/square_model": "TypeError",
    "error/update_without_model": "TypeError",
    "missing_entry/other_name": "AttributeError",
    "syntax_error/missing_colon": "SyntaxError",
}

# The answers take most of a minute to compute: once, not once for each test process.
pytestmark = [
    pytest.mark.xdist_group("fsdp_step_answers"),
    pytest.mark.rotation("problems/fsdp_step/", "tests/problems/answers_of_submissions.py", "uv.lock"),
]

Answers = dict[str, list[dict[str, Any]]]


def rejected(reason: str) -> list[str]:
    return [name for name in REJECTED if name.split("/")[2] == reason]


@pytest.fixture(scope="session")
def answers(folder: Path, on_8_devices: Callable[..., dict[str, Any]]) -> Answers:
    found = on_8_devices("answers_of_submissions.py", folder)
    assert found["devices"] == 8
    named: Answers = found["answers"]
    return named


@pytest.fixture(scope="session")
def agree(folder: Path) -> Callable[[dict[str, Any], dict[str, Any]], bool]:
    tolerance = tomllib.loads((folder / "problem.toml").read_text(encoding="utf-8"))["tolerance"]["float32"]

    def close(got: dict[str, Any], expected: dict[str, Any]) -> bool:
        if (got.get("shape"), got.get("dtype")) != (expected["shape"], expected["dtype"]):
            return False
        error = np.abs(np.subtract(got["values"], expected["values"]))
        return bool((error <= tolerance["atol"] + tolerance["rtol"] * np.abs(expected["values"])).all())

    return close


def test_the_reference_returns_two_finite_float32_in_every_case(answers: Answers) -> None:
    for answer in answers["reference.py"]:
        assert answer["shape"] == [2]
        assert answer["dtype"] == "float32"
        assert np.isfinite(answer["values"]).all()


def test_the_reference_agrees_with_losses_computed_by_hand(answers: Answers) -> None:
    # The kernel of nnx.Linear(3, 2, rngs=nnx.Rngs(0)); x and y are those of the first public case.
    kernel = np.array([[0.61786741, -0.55987215], [-0.46445078, -0.71505547], [-0.53884101, 0.36689344]])
    x = np.array([[1, 0, -1], [2, 1, 0], [0, 1, 1], [1, 1, 1]])
    y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    error = x @ kernel - y
    slope = 2 * error / error.size
    new_error = x @ (kernel - 0.1 * x.T @ slope) - 0.1 * slope.sum(axis=0) - y
    losses = [(each**2).sum() / 8 for each in (error, new_error)]
    assert answers["reference.py"][0]["values"] == pytest.approx(losses, rel=1e-5)


def test_the_starter_raises_in_every_case(answers: Answers) -> None:
    assert {answer.get("error") for answer in answers["starter.py"]} == {"NotImplementedError"}


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_submission_agrees_with_the_reference_in_every_case(
    answers: Answers, agree: Callable[..., bool], name: str
) -> None:
    assert [agree(*pair) for pair in zip(answers[name], answers["reference.py"], strict=True)] == [True] * len(
        answers["reference.py"]
    )


@pytest.mark.parametrize("name", rejected("wrong_value"))
def test_a_wrong_value_has_the_right_shape_and_differs_far_beyond_the_tolerance(answers: Answers, name: str) -> None:
    pairs = list(zip(answers[name], answers["reference.py"], strict=True))
    assert all((got["shape"], got["dtype"]) == (expected["shape"], expected["dtype"]) for got, expected in pairs)
    errors = [np.abs(np.divide(got["values"], expected["values"]) - 1).max() for got, expected in pairs]
    assert max(errors[PUBLIC:]) > 1e-2
    assert (max(errors[:PUBLIC]) > 1e-2) == (Path(name).stem not in ONLY_HIDDEN)


@pytest.mark.parametrize("name", rejected("wrong_shape"))
def test_a_wrong_shape_is_wrong_in_both_public_cases(answers: Answers, name: str) -> None:
    assert all(answer["shape"] != [2] and answer["dtype"] == "float32" for answer in answers[name][:PUBLIC])


@pytest.mark.parametrize("name", rejected("wrong_dtype"))
def test_a_wrong_dtype_is_wrong_in_every_case_and_its_shape_right(answers: Answers, name: str) -> None:
    assert all(answer["shape"] == [2] and answer["dtype"] != "float32" for answer in answers[name])


@pytest.mark.parametrize("name", rejected("wrong_structure"))
def test_a_wrong_structure_is_no_array_or_can_only_be_seen_by_an_observed_check(
    answers: Answers, agree: Callable[..., bool], name: str
) -> None:
    for got, expected in zip(answers[name], answers["reference.py"], strict=True):
        assert "error" not in got
        assert "type" in got or agree(got, expected)


@pytest.mark.parametrize(
    "name", [name for name in REJECTED if name.split("/")[2] in {"error", "missing_entry", "syntax_error"}]
)
def test_a_submission_that_fails_does_so_in_the_way_it_says(answers: Answers, name: str) -> None:
    expected = EXPECTED_ERRORS[name.removeprefix("submissions/rejected/").removesuffix(".py")]
    assert {answer.get("error") for answer in answers[name][:PUBLIC]} == {expected}


def test_every_reason_has_a_test_of_its_own_above() -> None:
    tested = {"wrong_value", "wrong_shape", "wrong_dtype", "wrong_structure", "error", "missing_entry", "syntax_error"}
    assert {name.split("/")[2] for name in REJECTED} == tested


def test_there_are_at_least_four_accepted_and_fourteen_rejected_submissions() -> None:
    assert len(ACCEPTED) >= 4
    assert len(REJECTED) >= 14


@pytest.mark.parametrize("name", [*ACCEPTED, *REJECTED])
def test_the_first_line_is_a_sentence_about_what_its_author_understood(name: str) -> None:
    first = (FOLDER / name).read_text(encoding="utf-8").splitlines()[0]
    sentence = ast.literal_eval(first)
    assert sentence.endswith(".")
    assert 30 <= len(sentence) <= 110


def test_no_two_rejected_submissions_say_the_same() -> None:
    firsts = [(FOLDER / name).read_text(encoding="utf-8").splitlines()[0] for name in REJECTED]
    assert len(set(firsts)) == len(firsts)
