"""After a batch of attacks, check that none of them left or changed anything, or find the one that did.

Checking after each attack took five times as long as the attacks. So the arena is checked once per batch: an honest and
a wrong submission are judged as ever, and nothing is left. If that fails, the batch is divided again and again, and its
parts run in arenas of their own, until the attack is found.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from tests.hostile.arena import HONEST, WRONG, Arena
from tests.hostile.attack import Attack

BATCH = 8
# One attack, or two that are graded at the same time.
Step = tuple[Attack, ...]
Open = Callable[[], AbstractContextManager[Arena]]


def batches(names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each name with the number of its batch. Neighbours, which attack the same thing, go to different batches."""
    number = -(-len(names) // BATCH)
    yield from sorted((position % number, name) for position, name in enumerate(names))


def harm(arena: Arena) -> str | None:
    """Say what differs from before the attacks; None if nothing does."""
    honest, wrong = arena.grade(HONEST), arena.grade(WRONG)
    if (honest.status, honest.stdout, honest.stderr) != ("accepted", "", ""):
        return f"an honest submission is no longer accepted without output:\n{honest.model_dump_json(indent=1)}"
    if (wrong.status, wrong.reason, wrong.score) != ("rejected", "wrong_value", 0):
        return f"a wrong submission is no longer rejected for its value:\n{wrong.model_dump_json(indent=1)}"
    return arena.left_behind()


def fault_of(batch: Sequence[Step], found: str, open_arena: Open) -> str:
    """Say which of a batch's attacks did harm. `found` is the harm after all of them."""

    def does_harm(steps: Sequence[Step]) -> bool:
        with open_arena() as arena:
            for step in steps:
                run(arena, step)
            return harm(arena) is not None

    guilty = smallest(batch, does_harm)
    named = ", ".join(_name(step) for step in guilty)
    if len(guilty) == 1:
        return f"{named} did harm: {found}"
    if len(guilty) < len(batch):
        return f"{named} did harm together, and neither half of them alone: {found}"
    return f"One of these attacks did harm, but neither half of them in a new arena. {named}: {found}"


def run(arena: Arena, step: Step) -> None:
    """Run again what was judged before, whatever its verdict."""
    if len(step) == 1:
        arena.attack(step[0])
    else:
        arena.attack_both(step[0], step[1])


def smallest(batch: Sequence[Step], does_harm: Callable[[Sequence[Step]], bool]) -> Sequence[Step]:
    """Halve a batch as long as one of the halves does harm alone."""
    while len(batch) > 1:
        middle = len(batch) // 2
        halves = (batch[:middle], batch[middle:])
        harmful = next((half for half in halves if does_harm(half)), None)
        if harmful is None:
            break
        batch = harmful
    return batch


def _name(step: Step) -> str:
    return " with ".join(attack.name for attack in step)
