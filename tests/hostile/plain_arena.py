"""An arena in a process of its own, for tests/hostile/test_plain_user.py, which starts it as a user without privileges.

Usage: python -m tests.hostile.plain_arena FOLDER

It first prints what the kernel says of its rights. Then each line that it reads is the name of an attack, or the two
names of a pair, and it prints what did not hold. After an empty line, it prints what the attacks so far have left. Each
answer is a line of JSON, null if there is nothing to report.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hostile.arena import Arena, assert_held
from tests.hostile.attack import read_corpus
from tests.hostile.witnesses import Step, fault_of, harm


def main() -> None:
    folder = Path(sys.argv[1])
    attacks = {attack.name: attack for attack in read_corpus()}
    since_check: list[Step] = []

    @contextmanager
    def new_arena() -> Iterator[Arena]:
        with tempfile.TemporaryDirectory(dir=folder) as scratch, Arena(Path(scratch), host=folder) as arena:
            yield arena

    _answer(_rights())
    with new_arena() as arena:
        for line in sys.stdin:
            step = tuple(attacks[name] for name in line.split())
            if step:
                since_check.append(step)
                _answer(_fault(arena, step))
            else:
                found = harm(arena)
                _answer(found and fault_of(since_check, found, new_arena))
                since_check.clear()


def _fault(arena: Arena, step: Step) -> str | None:
    """Run a step. Returns in words what did not hold."""
    verdicts = arena.attack_both(*step) if len(step) == 2 else (arena.attack(*step),)
    try:
        for attack, verdict in zip(step, verdicts, strict=True):
            assert_held(arena, attack, verdict)
    except AssertionError as error:
        return str(error) or "an assertion without a message"
    return None


def _rights() -> dict[str, str]:
    """The user, the groups and the capabilities of this process."""
    lines = (line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: value.strip() for name, value in lines if name in {"Uid", "Gid", "Groups"} or name.startswith("Cap")}


def _answer(answer: object) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
