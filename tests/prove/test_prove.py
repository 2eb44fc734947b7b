"""Receipts that are missing, stale or typed in, texts that differ, and runs that are interrupted."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.prove import digests
from tests.prove.__main__ import prove
from tests.prove.checks import differences, drawn, faults, measured_again
from tests.prove.kind import Kind, Receipts
from tests.prove.measuring import Job, Outcome, measure

SAMPLE = "tests/prove/sample_units.py"


class Example:
    """Units whose sources, texts and results a test changes."""

    def __init__(self, folder: Path) -> None:
        self.sources = {"one": "1", "two": "2", "three": "3"}
        self.texts = dict(self.sources)
        self.measured: list[str] = []
        self.receipts = Receipts(folder)
        self.kind = Kind(
            "examples",
            SAMPLE,
            lambda: list(self.sources),
            lambda unit: {"source": digests.of_text(self.sources[unit])},
            lambda unit, result: (
                [] if result == self.texts[unit] else [f"{unit}.md says {self.texts[unit]}, not {result}"]
            ),
        )

    def measure(self, jobs: Sequence[Job], processes: int) -> Iterator[Outcome]:
        """The result of a unit is its source."""
        for kind, unit in jobs:
            self.measured.append(unit)
            yield Outcome(kind, unit, 0.1, self.sources[unit])

    def prove(self, *names: str) -> int:
        self.measured.clear()
        return prove([self.kind], names, 1, self.receipts, self.measure)


@pytest.fixture
def example(tmp_path: Path) -> Example:
    return Example(tmp_path)


def test_a_missing_receipt_is_written_and_then_nothing_is_left_to_do(example: Example) -> None:
    assert faults(example.kind, example.receipts) == [
        *(f"examples/{unit} has no receipt" for unit in ("one", "two", "three")),
        "Measure again: .venv/bin/python -m tests.prove",
    ]
    assert example.prove() == 0
    assert example.measured == ["one", "two", "three"]
    assert faults(example.kind, example.receipts) == []
    assert example.prove() == 0
    assert example.measured == []


def test_a_receipt_is_readable_and_ends_in_a_line_break(example: Example) -> None:
    example.prove()
    text = example.receipts.path(example.kind, "one").read_text(encoding="utf-8")
    assert text.endswith('\n "measured": "1"\n}\n')
    assert json.loads(text).keys() == {"of", "grader", "measured"}


def test_only_a_stale_unit_is_measured_again(example: Example) -> None:
    example.prove()
    example.sources["two"] = example.texts["two"] = "22"
    assert faults(example.kind, example.receipts)[0] == "examples/two changed since its receipt was written"
    assert example.prove() == 0
    assert example.measured == ["two"]
    assert example.receipts.measured(example.kind, "two") == "22"


def test_a_new_version_of_jax_makes_every_receipt_stale(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    example.prove()
    monkeypatch.setattr(digests, "versions", lambda: {"jax": "99"})
    assert len(faults(example.kind, example.receipts)) == 4


def test_what_cannot_be_read_is_no_receipt(example: Example) -> None:
    example.prove()
    example.receipts.path(example.kind, "one").write_text("<<<<<<< HEAD\n", encoding="utf-8")
    example.receipts.path(example.kind, "two").write_text('{"measured": "2"}', encoding="utf-8")
    assert [each for each in faults(example.kind, example.receipts) if "cannot be read" in each] == [
        "examples/one has a receipt that cannot be read",
        "examples/two has a receipt that cannot be read",
    ]
    assert example.prove() == 0
    assert example.measured == ["one", "two"]


def test_a_receipt_that_was_typed_in_differs_from_what_is_measured(example: Example) -> None:
    example.prove()
    path = example.receipts.path(example.kind, "three")
    path.write_text(path.read_text(encoding="utf-8").replace('"3"', '"4"'), encoding="utf-8")
    example.texts["three"] = "4"
    # Its digest is right, and so is the text.
    assert faults(example.kind, example.receipts) == differences(example.kind, example.receipts) == []
    assert measured_again(example.kind, ["one", "two"], example.receipts, example.measure) == []
    assert measured_again(example.kind, ["three"], example.receipts, example.measure) == [
        "examples/three: the receipt has '4', measured was '3'",
        "If that is right: .venv/bin/python -m tests.prove three",
    ]


def test_a_text_that_differs_is_named(example: Example, capsys: pytest.CaptureFixture[str]) -> None:
    example.texts["two"] = "9"
    assert example.prove() == 1
    assert capsys.readouterr().out.endswith("Measured 3 of 3 in 0 s.\ntwo.md says 9, not 2\n")
    assert differences(example.kind, example.receipts) == ["two.md says 9, not 2"]


def test_an_interrupted_run_continues_where_it_was(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(jobs: Sequence[Job], processes: int) -> Iterator[Outcome]:
        yield from list(whole(jobs, processes))[:2]
        raise KeyboardInterrupt

    whole = example.measure
    monkeypatch.setattr(example, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        example.prove()
    monkeypatch.undo()
    assert example.prove() == 0
    assert example.measured == ["three"]


def test_a_named_unit_is_measured_in_any_case(example: Example, capsys: pytest.CaptureFixture[str]) -> None:
    example.prove()
    assert example.prove("two") == 0
    assert example.measured == ["two"]
    assert example.prove("tow") == 2
    assert capsys.readouterr().err.splitlines() == [
        "Nothing is named tow. These have receipts:",
        "  examples: one, two, three",
    ]


def test_the_receipt_of_a_unit_that_is_gone_is_removed(example: Example) -> None:
    example.prove()
    del example.sources["one"]
    assert faults(example.kind, example.receipts)[0] == "examples/one no longer exists"
    example.prove()
    assert not example.receipts.path(example.kind, "one").exists()


def test_one_unit_in_sixteen_is_drawn_by_what_decides_it(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESHGRADE_TEST_EVERYTHING", raising=False)
    example.sources = {f"unit{number}": str(number) for number in range(400)}
    before = drawn(example.kind)
    assert 10 <= len(before) <= 45
    # Another unit changes, and another one is new.
    other = next(unit for unit in example.sources if unit not in before)
    example.sources |= {other: "changed", "new": "new"}
    assert set(before) <= set(drawn(example.kind)) <= {*before, other, "new"}


def test_a_broken_unit_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = ["first", "broken", "ended", "last"]
    kind = Kind("samples", SAMPLE, lambda: units, lambda unit: {}, lambda unit, result: [])
    receipts = Receipts(tmp_path)
    assert prove([kind], (), 2, receipts) == 1
    captured = capsys.readouterr()
    assert "ValueError: this unit is broken" in captured.err
    failed = captured.out.splitlines()[-1].removeprefix("Could not measure ").removesuffix(".")
    assert set(failed.split(", ")) == {"samples/broken", "samples/ended"}
    assert {receipts.measured(kind, unit)["devices"] for unit in ("first", "last")} == {"8"}
    assert receipts.fault(kind, "broken") == "has no receipt"


def test_units_are_returned_as_soon_as_they_are_measured() -> None:
    kind = Kind("samples", SAMPLE, lambda: [], lambda unit: {}, lambda unit, result: [])
    found = {each.unit: each.result for each in measure([(kind, unit) for unit in "abc"], 2)}
    assert found == {unit: {"name": unit, "devices": "8"} for unit in "abc"}
    assert list(measure([], 2)) == []


@pytest.mark.parametrize(
    ("kept", "measured", "apart"),
    [
        ({"a": [1, 2]}, {"a": [1, 2]}, []),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a: 2: the receipt has 2, measured was 3"]),
        ({"a": [1]}, {"a": [1, 3]}, ["a: the receipt has [1], measured was [1, 3]"]),
        ({"a": {"b": 1}}, {"a": {}}, ["a: b: the receipt has 1, measured was None"]),
    ],
)
def test_the_places_that_differ_are_named(kept: Any, measured: Any, apart: list[str], example: Example) -> None:
    assert example.kind.apart(kept, measured) == apart


def test_the_digest_has_what_a_program_imports_and_no_fixtures() -> None:
    found = digests.shared(("tests/problems/statement_programs.py",))
    assert {"tests/problems/measured_programs.py", "tests/problems/at_full_size.py"} <= set(found)
    assert not [path for path in found if path.endswith("conftest.py") or not path.startswith("tests/")]


def test_what_reads_a_page_is_in_no_digest() -> None:
    assert digests.shared(("tests/grader/explorer/own_programs.py",)) == ("tests/grader/explorer/own_programs.py",)


def test_the_digest_has_the_schedules_that_a_lesson_reads() -> None:
    found = digests.shared(("lessons/tpu-schedule/claims.py",))
    assert [path for path in found if path.startswith("tests/grader/program/scheduled/")]


def test_a_change_of_the_grader_makes_no_receipt_stale(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    example.prove()
    monkeypatch.setattr(digests, "of_service", lambda programs: "changed")
    assert example.kind.grader("one") == "changed"
    assert faults(example.kind, example.receipts) == []
