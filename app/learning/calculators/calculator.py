"""A calculator as data: its inputs with units and ranges, its outputs, where its formula comes from, its plot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.learning.calculators.formulas.impossible_inputs import Outputs

Value = int | float | str
Values = Mapping[str, Value]
Unit = Literal["bytes", "flops", "seconds", "percent", "count", "number", "yes", "times"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number to type. `fill` is the key of a preset that fills it in, and `unit` follows it."""

    name: str
    label: str
    default: int | float
    least: int | float
    most: int | float
    unit: str = ""
    help: str = ""
    fill: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of one value. `options` are values with their labels."""

    name: str
    label: str
    default: str
    options: tuple[tuple[str, str], ...]
    help: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for value, _ in self.options)


Input = Number | Choice


@dataclass(frozen=True, slots=True)
class Output:
    """A result. `formula` is how people write it."""

    name: str
    label: str
    unit: Unit
    formula: str = ""
    main: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Plot:
    """`outputs` over the input `over`, which doubles from `first` to `last`.

    With `by`, the one output has a line for each value of that choice.
    """

    title: str
    over: str
    first: int
    last: int
    outputs: tuple[str, ...]
    by: str = ""
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Calculator:
    """`presets` are kinds of rows of presets.toml that fill inputs in. `unmeasured` says why nothing was measured.

    `folded` are groups of inputs that the page folds: a title, and the names of inputs. The others are always visible.
    """

    name: str
    title: str
    summary: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    compute: Callable[..., Outputs]
    plot: Plot
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    unmeasured: str = ""
    folded: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def defaults(self) -> dict[str, Value]:
        return {each.name: each.default for each in self.inputs}

    def results(self, values: Values) -> Outputs:
        """Every output by name. Raises: Impossible."""
        return self.compute(**values)
