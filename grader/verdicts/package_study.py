"""What a grading measures beyond its verdict. Only the author of a package sees it, never a student."""

from collections.abc import Callable
from dataclasses import dataclass

from grader.core.case import Case
from grader.core.wire import Array


@dataclass(frozen=True, slots=True)
class Spent:
    """What one process used for one submission: CPU time of all its threads, wall-clock time, and peak memory."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """The bytes of all collectives in one call of a program.

    `sent` is what one device sends around a ring, and `moved` are the bytes of the whole tensors.
    """

    sent: int
    moved: int


@dataclass(frozen=True, slots=True)
class ProgramTraffic:
    """What a program and the reference's program communicate; None if a number of executions is unknown. `cases` are
    the ids of the cases that use the program."""

    mesh: str
    cases: tuple[str, ...]
    mine: Traffic | None
    reference: Traffic | None


@dataclass(frozen=True, slots=True)
class PackageStudy:
    """Measurements of one grading.

    Attributes:
      errors: the largest error by mesh name ("" in call mode), as a multiple of the tolerance; infinite if a result has
        another structure, shape or dtype. Empty if nothing was compared.
      spent: one entry for the runner and one for each verifier.
      traffic: one entry for each program; empty in call mode.
    """

    errors: dict[str, float]
    spent: tuple[Spent, ...]
    traffic: tuple[ProgramTraffic, ...] = ()


Watch = Callable[[PackageStudy], None]


# Prefix of the paths of values that the spies of call mode observe, such as a learning rate.
OBSERVED = "observed "


@dataclass(frozen=True, slots=True)
class Answers:
    """What the reference computes last: arrays by mesh name ("" without one), case id and leaf path.

    In call mode, values that spies observed have paths that begin with `OBSERVED`.
    """

    cases: tuple[Case, ...]
    of: dict[str, dict[str, dict[str, Array]]]
