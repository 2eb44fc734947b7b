"""One input of a problem."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """Argument name to value, in the order of the entry point's parameters; in program mode `seed` comes first."""

    id: str
    public: bool
    inputs: dict[str, object]
