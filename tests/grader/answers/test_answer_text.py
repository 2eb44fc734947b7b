"""Answers as people write them are read kindly, and refused with what to write instead."""

import pytest

from grader.answers.answer_text import AnswerUnfit, agrees, read_answer, show_answer
from grader.core.template import bytes_text, fill, grouped
from grader.package.package import AnswerSpec

BYTES = AnswerSpec(id="a", label="A", kind="number", unit="bytes", tolerance=0.01)
EXACT = AnswerSpec(id="a", label="A", kind="number")
DEVICES = AnswerSpec(id="a", label="Axis size", kind="number", unit="devices")
NO_UNIT = AnswerSpec(id="a", label="Number of devices with a copy", kind="number")
FLOPS = AnswerSpec(id="a", label="A", kind="number", unit="FLOPs")
ALIKE = AnswerSpec(id="a", label="A", kind="choice", choices=["a_b", "ab"])
SECONDS = AnswerSpec(id="a", label="A", kind="number", unit="seconds")
CHOICE = AnswerSpec(id="a", label="A", kind="choice", choices=["all_gather", "all_reduce"])
SPEC = AnswerSpec(id="a", label="A", kind="spec")
TABLE = AnswerSpec(id="a", label="A", kind="table", rows=["r", "s"], columns=["x", "y"])


@pytest.mark.parametrize(
    ("spec", "text", "value"),
    [
        (BYTES, "12 MiB", 12 << 20),
        (BYTES, "12MiB", 12 << 20),
        (BYTES, "1.5 KiB", 1536),
        (BYTES, "3 gb", 3 * 10**9),
        (BYTES, " 7 bytes ", 7),
        (BYTES, 7.0, 7),
        (EXACT, "1e6", 10**6),
        (EXACT, "1_000_000", 10**6),
        (EXACT, "-2.5e-1", -0.25),
        (EXACT, ".5", 0.5),
        (BYTES, "1,000,000", 10**6),
        (BYTES, "1,000", 1000),
        (BYTES, "12,582 bytes", 12_582),
        (EXACT, "1,000,000", 10**6),
        (EXACT, "-12,345,678.5", -12_345_678.5),
        (EXACT, "1,000.5", 1000.5),
        (EXACT, "1 000", 1000),
        (EXACT, "1\u202f000\u202f000", 10**6),
        (BYTES, "1'500 MiB", 1500 << 20),
        (BYTES, "12 mebibytes", 12 << 20),
        (BYTES, "1 kilobyte", 1000),
        (BYTES, "1 byte", 1),
        (DEVICES, "1 device", 1),
        (DEVICES, "1,024,000 Devices", 1_024_000),
        (NO_UNIT, "8 devices", 8),
        (SECONDS, "3 milliseconds", 0.003),
        (SECONDS, "2 sec", 2),
        (SECONDS, "5 \u00b5s", 5e-6),
        (FLOPS, "2 teraflops", 2 * 10**12),
        (FLOPS, "2 GFLOP", 2 * 10**9),
        (CHOICE, "All-Gather", "all_gather"),
        (CHOICE, "ALL REDUCE", "all_reduce"),
        (CHOICE, "allgather", "all_gather"),
        (SECONDS, "3.5 ms", 0.0035),
        (CHOICE, "all_reduce", "all_reduce"),
        (SPEC, "P('fsdp', None)", "P('fsdp')"),
        (SPEC, 'jax.sharding.PartitionSpec(None, ("data", "fsdp"))', "P(None, ('data', 'fsdp'))"),
        (SPEC, "P(('fsdp',))", "P('fsdp')"),
        (SPEC, "P(\u2018fsdp\u2019)", "P('fsdp')"),
        (SPEC, "P()", "P()"),
        (TABLE, [["1", 2], [3, "4e0"]], [[1, 2], [3, 4]]),
    ],
)
def test_it_reads(spec: AnswerSpec, text: object, value: object) -> None:
    read = read_answer(spec, text)
    assert read == value
    shown = show_answer(spec, read)
    assert spec.kind == "table" or read_answer(spec, shown) == read


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        (EXACT, "1,000", "Write 1000 or 1_000 for a thousand"),
        (BYTES, "1,500 MiB", "may separate thousands or be a decimal point"),
        (BYTES, "1,00,000", "may separate thousands or be a decimal point"),
        (EXACT, "0,500", "may separate thousands or be a decimal point"),
        (EXACT, "1,000 000", "may separate thousands or be a decimal point"),
        (DEVICES, "1 row", "'row' does not fit this answer, which is in devices"),
        (NO_UNIT, "8 MiB", "does not fit this answer, which has no unit"),
        (ALIKE, "A-B", "'A-B' is not a choice"),
        (EXACT, "0,5", "1.5 for one and a half"),
        (BYTES, "12 Mb", "means bits. For bytes, write MB"),
        (BYTES, "12 parsecs", "'parsecs' does not fit this answer, which is in bytes"),
        (EXACT, "12 MiB", "does not fit this answer, which has no unit"),
        (EXACT, "", "This answer is empty. Write a number such as 42"),
        (EXACT, "twelve", "'twelve' is not a number"),
        (EXACT, True, "'True' is not a number"),
        (EXACT, "nan", "is not a number"),
        (EXACT, float("inf"), "not a finite number"),
        (EXACT, "9" * 201, "This answer has 201 characters"),
        (EXACT, "9" * 150, "too large"),
        (EXACT, "1e999", "is not a number|does not fit this answer"),
        (CHOICE, "psum", "'psum' is not a choice. Write one of 'all_gather', 'all_reduce'"),
        (SPEC, "fsdp", "'fsdp' is not a PartitionSpec. Write a spec such as P"),
        (SPEC, "P(fsdp)", "with axis names in quotes"),
        (SPEC, "P(1)", "is not a PartitionSpec"),
        (SPEC, "Q('fsdp')", "is not a PartitionSpec"),
        (SPEC, "P(*'ab')", "is not a PartitionSpec"),
        (TABLE, [[1, 2]], "Write 2 rows of 2 numbers"),
        (TABLE, [[1, 2], [3, ""]], "Row s, column y: This cell is empty"),
    ],
    ids=range(28),
)
def test_it_refuses_with_what_to_write(spec: AnswerSpec, text: object, message: str) -> None:
    with pytest.raises(AnswerUnfit, match=message):
        read_answer(spec, text)


def test_answers_agree_within_their_tolerance() -> None:
    assert agrees(BYTES, 101, 100)
    assert not agrees(BYTES, 102, 100)
    assert not agrees(BYTES, 1, 0)
    assert agrees(EXACT, 0.1 + 0.2, 0.3)
    assert not agrees(EXACT, 10**18 + 1, 10**18)
    assert agrees(TABLE, [[1, 2]], [[1, 2]])
    assert not agrees(TABLE, [[1, 2]], [[1, 3]])


def test_numbers_for_people() -> None:
    assert (grouped(9999), grouped(12582912), grouped(0.5)) == ("9999", "12_582_912", "0.5")
    assert (bytes_text(0), bytes_text(1536), bytes_text(12 << 20)) == ("0 bytes", "1.5 KiB", "12 MiB")
    assert fill("{{ a }} of {{b.c}}, {{ a:bytes }}", {"a": 20480, "b": {"c": "x"}}) == "20_480 of x, 20 KiB"
    with pytest.raises(KeyError):
        fill("{{ d }}", {"a": 1})
