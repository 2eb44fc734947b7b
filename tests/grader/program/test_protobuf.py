"""Reading protocol buffers without their classes."""

import pytest

from grader.program.protobuf import fields, packed
from grader.program.tokens import ProgramUnreadable

# 1: 150, 2: "testing", 3: eight bytes, 4: four bytes
MESSAGE = b"\x08\x96\x01" + b"\x12\x07testing" + b"\x19" + b"12345678" + b"\x25" + b"1234"


def test_fields_of_each_kind_are_read():
    found = [(number, each if isinstance(each, int) else bytes(each)) for number, each in fields(memoryview(MESSAGE))]
    assert found == [(1, 150), (2, b"testing"), (3, b"12345678"), (4, b"1234")]


def test_packed_numbers_are_read():
    assert packed(memoryview(b"\x01\x96\x01\x00")) == [1, 150, 0]
    assert packed(7) == [7]


@pytest.mark.parametrize(("cut", "whole"), [(0, 0), (3, 1), (12, 2), (21, 3)])
def test_a_message_that_is_cut_off_between_fields_is_shorter(cut: int, whole: int):
    assert len(list(fields(memoryview(MESSAGE[:cut])))) == whole


@pytest.mark.parametrize("cut", sorted({*range(1, len(MESSAGE))} - {3, 12, 21}))
def test_a_message_that_is_cut_off_within_a_field_is_unreadable(cut: int):
    with pytest.raises(ProgramUnreadable, match="protocol buffer"):
        list(fields(memoryview(MESSAGE[:cut])))


@pytest.mark.parametrize("message", [b"\x80" * 20, b"\x08" + b"\xff" * 20, b"\x0b", b"\x12\xff\xff\xff\xff\x07"])
def test_what_is_no_message_is_unreadable(message: bytes):
    with pytest.raises(ProgramUnreadable):
        list(fields(memoryview(message)))
