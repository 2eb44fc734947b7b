"""All walls, from the outside in: their names, how they can be tested, and how to fix a missing one.

To add a wall: its row in `WALLS`, a step in `grader/confined/confine.py` that builds it, attempts to cross it in
`grader/forks/probe.py`, attacks in `tests/hostile/submissions` that name it in line 1, and docs/security.md.
"""

from dataclasses import dataclass
from typing import Literal

from grader.sandbox.remedies import ALLOW_USER_NAMESPACES, NEED_LANDLOCK, NEED_SECCOMP, READABLE_PYTHON, UNKNOWN

Isolation = Literal["bubblewrap", "container"]


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall.

    Args:
      name: as in `Verdict.walls` and in the files that the module's docstring lists.
      remedy: what to install or allow if it is missing.
      hidden_by: inner walls that would stop the same attempts. They are down while this one is probed.
      is_removable: each fork builds it around itself, so a test can leave it out and see attacks get through.
      is_outermost: a container can replace it.
    """

    name: str
    remedy: str = UNKNOWN
    hidden_by: frozenset[str] = frozenset()
    is_removable: bool = False
    is_outermost: bool = False


WALLS = (
    Wall("namespaces", ALLOW_USER_NAMESPACES, frozenset({"landlock", "seccomp"}), is_outermost=True),
    Wall("landlock", NEED_LANDLOCK, frozenset({"seccomp"}), is_removable=True),
    Wall("seccomp", NEED_SECCOMP, is_removable=True),
    Wall("rlimits", is_removable=True),
    Wall("memory"),
)
REMOVABLE = tuple(wall.name for wall in WALLS if wall.is_removable)


def walls_of(isolation: Isolation = "bubblewrap") -> list[Wall]:
    """The walls that we build ourselves with this isolation."""
    return [wall for wall in WALLS if isolation == "bubblewrap" or not wall.is_outermost]


def wall_names(isolation: Isolation = "bubblewrap") -> list[str]:
    return [wall.name for wall in walls_of(isolation)]


def remedy_for(output: str) -> str:
    """The remedy for the last output of bubblewrap or the runner, which may begin with the name of a wall."""
    text = output.lower()
    if "permission denied" in text or "permissionerror" in text or "modulenotfounderror" in text:
        return READABLE_PYTHON
    if "bwrap:" in text and any(word in text for word in ("namespace", "user ns", "uid map", "not permitted")):
        return ALLOW_USER_NAMESPACES
    return next((wall.remedy for wall in WALLS if text.startswith(wall.name)), UNKNOWN)
