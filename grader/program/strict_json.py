"""Convert dataclasses to JSON and read them back without trusting the sender. Anything unexpected is an error."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from grader.program.tokens import ProgramUnreadable

T = TypeVar("T")


def write(value: Any) -> dict[str, object]:
    """Convert a dataclass to a dict, recursively, and tuples to lists. Numbers, strings, booleans and None stay."""
    return {field.name: _written(getattr(value, field.name)) for field in fields(value)}


def _written(value: object) -> object:
    if isinstance(value, tuple):
        return [_written(item) for item in value]
    return write(value) if is_dataclass(value) else value


def read(kind: type[T], value: object, where: str) -> T:
    """Read a dataclass from parsed JSON.

    Args:
      kind: a dataclass whose fields are integers (from 0 to 2**63 - 1), strings, booleans, tuples or dataclasses, each
        possibly optional.
      where: the value's name in messages.
    Raises:
      ProgramUnreadable: a field is missing or unknown, or its value has another type.
    """
    try:
        unknown: Any = kind
        result: T = _reader(unknown)(value)
    except _Unfit as unfit:
        raise ProgramUnreadable(f"{where}{unfit.where}: {unfit.why}") from None
    return result


class _Unfit(Exception):
    """A value that cannot be read: `where` is its place inside the value that is read."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.where = where

    def inside(self, place: str) -> "_Unfit":
        return _Unfit(self.why, f"{place}{self.where}")


# The facts of a program are 2,000 values, so what a type requires is found once and not for each value.
@cache
def _reader(kind: Any) -> Callable[[object], Any]:
    """A function that reads one value of this type, or raises `_Unfit`."""
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
        return partial(_read_optional, _reader(kind))
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if kinds[1:] == (...,):
            return partial(_read_items, _reader(kinds[0]))
        return partial(_read_tuple, tuple(map(_reader, kinds)))
    if is_dataclass(kind):
        return partial(_read_dataclass, kind)
    return _read_number if kind is int else partial(_read_plain, kind)


def _read_optional(read_it: Callable[[object], Any], value: object) -> Any:
    return None if value is None else read_it(value)


def _read_number(value: object) -> int:
    # A bool is an int for isinstance, but never a valid number here.
    if type(value) is not int:
        raise _wrong("a value of type int", value)
    if not 0 <= value < 2**63:
        raise _wrong("a number from 0 to 2**63 - 1", value)
    return value


def _read_plain(kind: type, value: object) -> object:
    if type(value) is not kind:
        raise _wrong(f"a value of type {kind.__name__}", value)
    return value


def _read_items(read_one: Callable[[object], Any], value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong("a list", value)
    found: list[Any] = []
    try:
        for item in value:
            found.append(read_one(item))
    except _Unfit as unfit:
        raise unfit.inside(f"[{len(found)}]") from None
    return tuple(found)


def _read_tuple(readers: tuple[Callable[[object], Any], ...], value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong("a list", value)
    if len(value) != len(readers):
        raise _wrong(f"{len(readers)} items", value)
    each = iter(readers)
    return _read_items(lambda item: next(each)(item), value)


def _read_dataclass(kind: Any, value: object) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong("an object", value)
    readers = _readers(kind)
    if value.keys() != readers.keys():
        wrong = sorted({str(name)[:60] for name in value.keys() ^ readers.keys()})
        raise _Unfit(f"fields are missing or unknown: {', '.join(wrong)}")
    found: dict[str, Any] = {}
    for name, read_one in readers.items():
        try:
            found[name] = read_one(value[name])
        except _Unfit as unfit:
            raise unfit.inside(f".{name}") from None
    return kind(**found)


@cache
def _readers(kind: Any) -> dict[str, Callable[[object], Any]]:
    """The fields of a dataclass and their readers. They are made when a value is read: a type can contain itself."""
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in fields(kind)}


def _wrong(expected: str, value: object) -> _Unfit:
    return _Unfit(f"expected {expected}, found {repr(value)[:60]}")
