"""Convert dataclasses to JSON and read them back without trusting the sender. Anything unexpected is an error."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
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
    result: T = _read(kind, value, where)
    return result


def _read(kind: Any, value: object, where: str) -> Any:
    if isinstance(kind, UnionType):
        if value is None and NoneType in get_args(kind):
            return None
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is tuple:
        return _read_tuple(get_args(kind), value, where)
    if is_dataclass(kind):
        return _read_dataclass(kind, value, where)
    # A bool is an int for isinstance, but never a valid number here.
    if type(value) is not kind:
        raise _wrong(where, f"a value of type {kind.__name__}", value)
    if isinstance(value, int) and not 0 <= value < 2**63:
        raise _wrong(where, "a number from 0 to 2**63 - 1", value)
    return value


def _read_tuple(kinds: tuple[Any, ...], value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(where, "a list", value)
    if kinds[1:] == (...,):
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise _wrong(where, f"{len(kinds)} items", value)
    return tuple(
        _read(one, item, f"{where}[{index}]") for index, (one, item) in enumerate(zip(kinds, value, strict=True))
    )


def _read_dataclass(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object", value)
    hints = _hints(kind)
    if value.keys() != hints.keys():
        wrong = sorted({str(name)[:60] for name in value.keys() ^ hints.keys()})
        raise ProgramUnreadable(f"{where}: fields are missing or unknown: {', '.join(wrong)}")
    return kind(**{name: _read(hint, value[name], f"{where}.{name}") for name, hint in hints.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass and their types, cached because evaluating types takes longer than reading a value."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _wrong(where: str, expected: str, value: object) -> ProgramUnreadable:
    return ProgramUnreadable(f"{where}: expected {expected}, found {repr(value)[:60]}")
