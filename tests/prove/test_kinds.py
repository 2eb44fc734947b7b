"""What the kinds find in a text that says something else than its receipt, and what makes a receipt stale."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.prove import digests, lessons, problems
from tests.prove.kind import Kind, Receipts
from tests.prove.kinds import KINDS

BY_NAME = {kind.name: kind for kind in KINDS}
# A lesson with claims, generated figures, and programs that the Explorer opens.
LESSON = "one-device"


def changed(kind: Kind, unit: str, *path: str | int, to: Any) -> Any:
    """The kept result of a unit with another value at a place."""
    measured = copy.deepcopy(Receipts().measured(kind, unit))
    *parents, last = path
    place = measured
    for each in parents:
        place = place[each]
    place[last] = to
    return measured


def test_a_claim_that_differs_is_named() -> None:
    kind = BY_NAME["claims"]
    [found] = kind.differences(LESSON, changed(kind, LESSON, "claims", "by_name", "saved", "value", to=1))
    assert found.startswith(f"lessons/{LESSON}/claims.json: saved is {{'value': 19456, ")
    assert found.endswith("python -m tests.lessons.write_claims one-device, and then read the lesson again")
    [found] = kind.differences(LESSON, changed(kind, LESSON, "claims", "jax", to="99"))
    assert "measured with 99" in found


def test_an_output_a_failing_program_and_a_figure_that_differ_are_named() -> None:
    kind = BY_NAME["claims"]
    [found] = kind.differences(LESSON, changed(kind, LESSON, "programs", 3, "printed", to=["2.0", ""]))
    assert found.startswith(f"lessons/{LESSON}/lesson.md: program 4 prints '2.0\\n', and the lesson shows '1.0 ")
    [found] = kind.differences(LESSON, changed(kind, LESSON, "programs", 3, "error", to="NameError: x"))
    assert found == f"lessons/{LESSON}/lesson.md: program 4 ends with NameError: x"
    [found] = kind.differences(LESSON, changed(kind, LESSON, "figures", "kept_25.svg", to="0"))
    assert found.startswith(f"lessons/{LESSON}/figures/kept_25.svg is not what is drawn now")


def test_an_output_and_a_fault_in_the_sandbox_are_named() -> None:
    kind = BY_NAME["lesson_programs"]
    [found] = kind.differences(LESSON, changed(kind, LESSON, "printed", 3, "stdout", to=["2.0", ""]))
    assert "lesson.md: program 4 prints '2.0\\n' in the sandbox, and the lesson shows '1.0 " in found
    [found] = kind.differences(LESSON, changed(kind, LESSON, "printed", 3, "fault", to={"kind": "timeout"}))
    assert "program 4 does not run to its end in the sandbox" in found
    [found] = kind.differences(LESSON, changed(kind, LESSON, "printed", 3, "truncated", to=True))
    assert "program 4 does not run to its end in the sandbox" in found


def test_a_collective_that_explore_toml_does_not_expect_is_named() -> None:
    kind = BY_NAME["lesson_programs"]
    measured = Receipts().measured(kind, "pipelines")
    title = next(iter(measured["explored"]))
    [found] = kind.differences("pipelines", changed(kind, "pipelines", "explored", title, "collectives", to=["x"]))
    assert found.startswith(f"lessons/pipelines/explore.toml: {title} has ['x'], expected [")
    [found] = kind.differences("pipelines", changed(kind, "pipelines", "explored", title, "has_lines", to=False))
    assert found == f"lessons/pipelines/explore.toml: no collective of {title} has a source line"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["findings"], ["rule file: message"], "rule file: message"),
        (["questions"], 50, "50 questions, and more than 50 are needed"),
        (["mistakes"], ["one"], "1 wrong formulas, and at least 6 are needed"),
        (["wrong"], [{"truth": 1, "placed": 2}], "placed arrays do not confirm 1 but 2"),
        (["alike"], {"one other": 1000}, "in 1000 questions, alike: one other"),
        (["messages", "all-gather"], False, "single messages do not do what all-gather does"),
    ],
    ids=["findings", "questions", "mistakes", "wrong", "alike", "messages"],
)
def test_a_question_with_a_fault_is_named(path: list[str], value: Any, message: str) -> None:
    kind = BY_NAME["questions"]
    [found] = kind.differences("read_the_hlo_1", changed(kind, "read_the_hlo_1", *path, to=value))
    assert found == f"problems/read_the_hlo_1: {message}"


def test_a_number_of_the_calculators_that_differs_is_named() -> None:
    kind = BY_NAME["calculators"]
    [found] = kind.differences("dp_step", changed(kind, "dp_step", 0, "sent", to=1))
    assert found.startswith("app/learning/calculators/measured_programs.json, dp_step: 1: sent: the file has 105455, ")


def test_an_output_of_the_page_that_differs_is_named() -> None:
    kind = BY_NAME["explored"]
    found = kind.differences("pipeline", ["collective  kind", "nothing"])
    assert found[0].startswith("docs/bring_your_own.md, pipeline.py does not show what is printed")
    assert any("of the prose is not in what is printed" in each for each in found)


def test_what_explicit_axes_do_is_compared() -> None:
    kind = BY_NAME["explicit_axes"]
    [found] = kind.differences("explicit_axes", {**problems.EXPLICIT_AXES, "the same on Auto axes": "ValueError"})
    assert found == "the same on Auto axes: statements say fine, measured was ValueError"


def test_a_claim_depends_on_the_problems_that_it_names_and_not_on_prose() -> None:
    parts = set(BY_NAME["claims"].own("pipelines"))
    assert {"problems/gpipe_forward/reference.py", "lessons/pipelines/claims.py"} <= parts
    assert not [each for each in parts if each.endswith((".md", "claims.json", ".svg"))]
    assert not [each for each in parts if each.startswith("problems/dp_shard_map/")]


def test_the_output_that_a_lesson_shows_and_what_it_expects_decide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    monkeypatch.setattr(lessons, "LESSONS", tmp_path)

    def parts(code: str, output: str, expected: list[str], mesh: str) -> Any:
        (folder / "lesson.md").write_text(
            f"Text.\n\n```python\n{code}\n```\n\n```text\n{output}\n```\n", encoding="utf-8"
        )
        text = f"[[programs]]\nprogram = 1\nmesh = {json.dumps(mesh)}\nexpected = {json.dumps(expected)}\n"
        (folder / "explore.toml").write_text(text, encoding="utf-8")
        return BY_NAME["lesson_programs"].own("x")

    first = parts("print(1)", "1", ["all-gather over x"], "x=8")
    assert parts("print(1)", "2", ["all-reduce over x"], "x=8") == first
    assert parts("print(2)", "1", ["all-gather over x"], "x=8") != first
    assert parts("print(1)", "1", ["all-gather over x"], "x=4") != first


def test_a_digest_has_the_versions_of_the_libraries() -> None:
    assert digests.versions().keys() == {"jax", "jaxlib", "flax", "optax"}
