"""expect: accepted. Uses classes, generics and pattern matching."""

import dataclasses
import enum
import typing

T = typing.TypeVar("T")


class Step(enum.Enum):
    ONE = 1


@dataclasses.dataclass(frozen=True)
class Box(typing.Generic[T]):
    value: T


def add_one(x):
    match Box(x):
        case Box(value=value):
            return value + Step.ONE.value
