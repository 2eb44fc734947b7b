"""One input of a problem."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`inputs` maps argument names to values in the order of the parameters; in program mode, `seed` comes first."""

    id: str
    public: bool
    inputs: dict[str, object]
