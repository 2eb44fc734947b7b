"""Inputs that no program can have, and the checks that several formulas share."""

from grader.core.errors import MeshgradeError

Outputs = dict[str, int | float]


class Impossible(MeshgradeError):
    """These inputs contradict each other. `field` is the input to change, and the message says how."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def part(total: int, parts: int) -> int:
    """The largest of `parts` parts of a whole: what padding leaves on each device."""
    return -(-total // parts)


def check_divides(field: str, divisor: int, total: int, name: str) -> None:
    """Raises `Impossible` at `field` unless `divisor` divides `total`, which is called `name`."""
    if total % divisor:
        raise Impossible(
            field, f"{divisor:,} does not divide {name} ({total:,}): {total % divisor:,} would be left over."
        )
