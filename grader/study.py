"""What a grading measures beyond its verdict, for the author of a package. No student is shown any of it."""

from collections.abc import Callable
from dataclasses import dataclass

from grader.case import Case
from grader.wire import Array


@dataclass(frozen=True, slots=True)
class Spent:
    """What one process used for one submission: seconds of all its threads, of the clock, and memory at its peak."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Study:
    """One grading.

    Attributes:
      errors: the largest error on each mesh, in units of the tolerance; infinite where a result has another form. The
        mesh has the name "" in call mode. Empty if nothing could be compared.
      spent: by the runner and by each verifier.
    """

    errors: dict[str, float]
    spent: tuple[Spent, ...]


Watch = Callable[[Study], None]


# Before the paths of what the spies of call mode see, such as a learning rate.
OBSERVED = "observed "


@dataclass(frozen=True, slots=True)
class Answers:
    """What the reference returns in the end: for each mesh ("" without one) and case, each array by its leaf path.

    In call mode, paths that begin with `OBSERVED` lead to numbers that spies saw.
    """

    cases: tuple[Case, ...]
    of: dict[str, dict[str, dict[str, Array]]]
