"""Every attack of the corpus is submitted, and its own verdict read. After each batch of eight, conftest.py checks that
nothing is left or leaked, and that the next submissions are judged as ever.
"""

import platform

import pytest

from tests.hostile.arena import Arena, assert_held
from tests.hostile.attack import read_corpus
from tests.hostile.witnesses import Step, batches
from tests.selection import everything, has_changed, parameters

ATTACKS = {attack.name: attack for attack in read_corpus()}
# All attacks if what they meet changed: the grader, its packages, or the machinery of these tests.
_SHARED = (
    "grader/",
    "uv.lock",
    *(f"tests/hostile/{name}.py" for name in ("arena", "attack", "conftest", "test_hostile", "witnesses")),
)


def _chosen(names: list[str]) -> list[str]:
    if everything() or has_changed(*_SHARED):
        return names
    return [name for name in names if has_changed(f"tests/hostile/submissions/{name}.py")]


ALONE = _chosen([name for name, attack in ATTACKS.items() if attack.pair is None])
# Each pair by its first name.
PAIRS = _chosen([name for name, attack in ATTACKS.items() if attack.pair is not None and name < attack.pair])
# Their machine code and call numbers are those of this architecture.
ON_X86 = {"processes/vfork_by_number", "processes/clone_by_number", "processes/interrupt_0x80"}
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="call numbers of x86-64")


# If a batch did harm, its attacks run again and again.
pytestmark = pytest.mark.timeout(900)


def _in_batches(names: list[str], kind: str) -> list[object]:
    """One process runs the attacks of a batch, and conftest.py knows the batch by its group."""
    return parameters(
        [
            pytest.param(
                name,
                marks=[
                    pytest.mark.xdist_group(f"{kind} {number}"),
                    *([x86] if name in ON_X86 or name.startswith("syscalls/") else []),
                ],
            )
            for number, name in batches(names)
        ]
    )


@pytest.mark.parametrize("name", _in_batches(ALONE, "attacks"))
def test_an_attack_gets_nowhere(arena: Arena, since_check: list[Step], name: str) -> None:
    attack = ATTACKS[name]
    since_check.append((attack,))
    assert_held(arena, attack, arena.attack(attack))


@pytest.mark.parametrize("left", _in_batches(PAIRS, "pairs"))
def test_two_at_the_same_time_do_not_find_one_another(arena: Arena, since_check: list[Step], left: str) -> None:
    right = ATTACKS[left].pair
    assert right
    attacks = ATTACKS[left], ATTACKS[right]
    since_check.append(attacks)
    for attack, verdict in zip(attacks, arena.attack_both(*attacks), strict=True):
        assert_held(arena, attack, verdict)
