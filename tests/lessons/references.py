"""The programs of problems, compiled once for the claims and the figures of all lessons."""

from functools import cache

from tests.problems.measured_programs import Program, Programs
from tests.problems.on_8_devices import CHECKOUT


@cache
def _programs(problem: str) -> Programs:
    return Programs(CHECKOUT / "problems" / problem)


def reference(problem: str, devices: int = 8) -> Program:
    """Return the reference's step on the first public case."""
    return _programs(problem).case("public-1", devices)


def accepted(problem: str, name: str) -> Program:
    """Return the step of an accepted submission, on the same case and 8 devices."""
    return _programs(problem).other(f"accepted/{name}")


def starter(problem: str) -> Program:
    """Return the starter's step, on the same case and 8 devices."""
    return _programs(problem).starter()
