"""Read messages of protocol buffers whose classes are not installed, by the numbers of their fields.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator

from grader.program.tokens import ProgramUnreadable

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_BITS = 63


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The number and the value of each field, in order: an int, or the bytes of a string, a message or packed ints.

    Raises:
      ProgramUnreadable: it is not a message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        size = {_FIXED64: 8, _FIXED32: 4}.get(key & 7)
        if key & 7 == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if key & 7 == _BYTES:
            size, at = _varint(message, at)
        if size is None or at + size > len(message):
            raise ProgramUnreadable("a protocol buffer ends within a field")
        yield key >> 3, message[at : at + size]
        at += size


def packed(value: int | memoryview) -> list[int]:
    """The numbers of a repeated field of ints."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MOST_BITS + 7, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ProgramUnreadable("a protocol buffer contains a number without an end")
