"""Every attack of the corpus is submitted. Afterwards nothing is left or leaked, and the next submission is served."""

import platform

import pytest

from grader.sandbox.walls import wall_names
from grader.verdicts.verdict import Verdict
from tests.hostile.arena import HONEST, WRONG, Arena
from tests.hostile.attack import Attack, read_corpus
from tests.parts import changed, chosen

ATTACKS = {attack.name: attack for attack in read_corpus()}
# All attacks if what they meet changed: the grader, its packages, or the machinery of these tests.
_SHARED = ("grader/", "uv.lock", *(f"tests/hostile/{name}.py" for name in ("arena", "attack", "test_hostile")))


def _file_of(name: str) -> tuple[str, ...]:
    return (f"tests/hostile/submissions/{name}.py",)


ALONE = chosen([name for name, attack in ATTACKS.items() if attack.pair is None], _file_of, _SHARED, changed)
_FIRST = [name for name, attack in ATTACKS.items() if attack.pair is not None and name < attack.pair]
PAIRS = [(name, ATTACKS[name].pair) for name in chosen(_FIRST, _file_of, _SHARED, changed)]
# Their machine code and call numbers are those of this architecture.
ON_X86 = {"processes/vfork_by_number", "processes/clone_by_number", "processes/interrupt_0x80"}
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="call numbers of x86-64")


def assert_held(arena: Arena, attack: Attack, verdict: Verdict) -> None:
    told = verdict.model_dump_json(indent=1)
    assert attack.expects(verdict.status, verdict.reason), told
    assert "CROSSED" not in verdict.stdout + verdict.stderr, told
    for text in attack.says:
        assert text in _said(verdict), told
    assert verdict.walls == wall_names()
    assert verdict.score == (100 if verdict.status == "accepted" else 0)
    arena.assert_tells_no_secret(verdict)


def assert_the_next_ones_are_judged_as_ever(arena: Arena) -> None:
    honest = arena.grade(HONEST)
    assert (honest.status, honest.stdout, honest.stderr) == ("accepted", "", "")
    wrong = arena.grade(WRONG)
    assert (wrong.status, wrong.reason, wrong.score) == ("rejected", "wrong_value", 0)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=x86) if name in ON_X86 or name.startswith("syscalls/") else name for name in ALONE],
)
def test_an_attack_gets_nowhere(arena, name):
    attack = ATTACKS[name]
    verdict = arena.attack(attack)
    assert_held(arena, attack, verdict)
    assert_the_next_ones_are_judged_as_ever(arena)
    arena.assert_nothing_is_left()


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_two_at_the_same_time_do_not_find_one_another(arena, left, right):
    attacks = ATTACKS[left], ATTACKS[right]
    for attack, verdict in zip(attacks, arena.attack_both(*attacks), strict=True):
        assert_held(arena, attack, verdict)
    assert_the_next_ones_are_judged_as_ever(arena)
    arena.assert_nothing_is_left()


def _said(verdict: Verdict) -> str:
    """All that a student reads."""
    messages = [item.message for item in (*verdict.checks, *verdict.cases)]
    # The evidence of a public case quotes the submission's own lines, CROSSED in them, so it is not looked at.
    return "\n".join([*messages, verdict.stdout, verdict.stderr])
