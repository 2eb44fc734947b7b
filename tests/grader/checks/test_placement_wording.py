"""One plain sentence for each kind of wrong placement, whatever the number of meshes, cases and leaves."""

from collections.abc import Sequence

import pytest

from grader.checks.finding import Located, rejected
from grader.checks.placement_wording import placement_headlines
from grader.verdicts.evidence import Held, Leaf

MESH = {"data": 2, "fsdp": 4}
SHAPE = (8, 4)
WHOLE: Held = (((0, 8), (0, 4)),) * 8
OVER_FSDP: Held = tuple(((2 * (d % 4), 2 * (d % 4) + 2), (0, 4)) for d in range(8))
COLUMNS: Held = tuple(((0, 8), (d % 4, d % 4 + 1)) for d in range(8))
OVER_DATA: Held = tuple(((4 * (d // 4), 4 * (d // 4) + 4), (0, 4)) for d in range(8))
OVER_BOTH: Held = tuple(((d, d + 1), (0, 4)) for d in range(8))
REVERSED: Held = tuple(reversed(OVER_FSDP))


def leaf(path: str, expected: Held, got: Held | None, when: str = "out") -> Leaf:
    return Leaf.model_validate(
        {"path": path, "when": when, "shape": SHAPE, "dtype": "float32", "ok": False}
        | {"expected_spec": "", "got_spec": "", "expected": expected, "got": got}
    )


@pytest.mark.parametrize(
    ("expected", "got", "sentence"),
    [
        (
            WHOLE,
            OVER_FSDP,
            "Your result of shape (8, 4) is still split over `fsdp`. It should be whole on every device.",
        ),
        (
            OVER_FSDP,
            WHOLE,
            "Your result of shape (8, 4) is whole on every device. It should be split over `fsdp` along dimension 0.",
        ),
        (
            OVER_FSDP,
            OVER_DATA,
            "Your result of shape (8, 4) is split over `data`. It should be split over `fsdp` along dimension 0.",
        ),
        (
            OVER_BOTH,
            OVER_DATA,
            "Your result of shape (8, 4) is split over `data` only. It should be split over `data` and `fsdp` "
            "along dimension 0.",
        ),
        (
            OVER_DATA,
            OVER_BOTH,
            "Your result of shape (8, 4) is split over `data` and `fsdp`. It should be split over `data` along "
            "dimension 0.",
        ),
        (
            OVER_FSDP,
            COLUMNS,
            "Your result of shape (8, 4) is split over `fsdp` along dimension 1. It should be split along dimension 0.",
        ),
        (
            OVER_FSDP,
            REVERSED,
            "Your result of shape (8, 4) is split over `fsdp`, but the devices hold each other's parts. It should "
            "be split in the "
            "order of the mesh.",
        ),
        (WHOLE, None, "Your result is missing. It should be returned."),
    ],
)
def test_a_result_has_one_sentence(expected: Held, got: Held | None, sentence: str) -> None:
    assert placement_headlines([(MESH, leaf("result", expected, got), None)], has_steps=False) == (sentence,)


def test_a_wrong_shape_is_said_instead() -> None:
    wrong = [(MESH, leaf("w", OVER_FSDP, ((((0, 8),),) * 8)), (8,))]
    assert placement_headlines(wrong, has_steps=False) == ("`w` has the shape (8,). It should have the shape (8, 4).",)


def named(paths: Sequence[str], whens: Sequence[str] = ("in", "out")) -> tuple[str, ...]:
    wrong = [(MESH, leaf(path, OVER_FSDP, WHOLE, when), None) for path in paths for when in whens]
    return placement_headlines(wrong, has_steps=True)


def test_leaves_with_the_same_fault_share_a_sentence() -> None:
    should = "whole on every device. They should be split over `fsdp` along dimension 0."
    assert named(["a", "b"]) == (f"`a` and `b` are {should}",)
    assert named(["a", "b", "c"]) == (f"`a`, `b` and 1 more leaf are {should}",)
    assert named(["a", "b", "c", "d"]) == (f"`a`, `b` and 2 more leaves are {should}",)


def test_a_sentence_says_when_if_the_leaf_is_wrong_only_then() -> None:
    should = "`w` of shape (8, 4) is whole on every device. It should be split over `fsdp` along dimension 0."
    assert named(["w"], ["in"]) == (f"In the initial state, {should}",)
    assert named(["w"], ["out"]) == (f"After the step, {should}",)


def test_meshes_and_cases_do_not_repeat_a_sentence() -> None:
    small = {"fsdp": 4}
    four: Held = OVER_FSDP[:4]
    wrong = [
        (MESH, leaf("w", OVER_FSDP, WHOLE), None),
        (MESH, leaf("w", OVER_FSDP, WHOLE), None),
        (small, leaf("w", four, WHOLE[:4]), None),
    ]
    assert len(placement_headlines(wrong, has_steps=False)) == 1


def test_faults_that_differ_in_numbers_share_a_headline() -> None:
    faults = [
        Located("On mesh x=8, ", "temporaries take 1 MiB; at most 97.7 KiB is allowed. Use `jax.checkpoint`."),
        Located("On mesh x=4, ", "temporaries take 2 MiB; at most 97.7 KiB is allowed. Use `jax.checkpoint`."),
        Located("On mesh x=4, ", "arguments take 2 MiB. Split them."),
    ]
    found = rejected(faults, "too_much_memory", [])
    assert found.headlines == (
        "Temporaries take 1 MiB; at most 97.7 KiB is allowed.",
        "Arguments take 2 MiB.",
    )
    assert found.message.splitlines()[1] == str(faults[1])


def test_a_name_keeps_its_case() -> None:
    assert rejected([Located("public-1: ", "optax.sgd has a momentum.")], "wrong_structure", []).headlines == (
        "optax.sgd has a momentum.",
    )
