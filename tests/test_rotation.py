"""Everything runs in parts, the part that ran longest ago first, and `.ci/rotation.toml` says what each found."""

from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import rotation
from tests.pytest_runs import Outcome
from tests.rotation import PARTS, in_turn, read, run_parts

TESTS = Path(__file__).parent


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Outcome]:
    """What each part finds when it runs; nothing at first. Commands of their own pass."""
    monkeypatch.setattr(rotation, "CHECKOUT", tmp_path)
    monkeypatch.setattr(rotation, "FILE", tmp_path / "rotation.toml")
    monkeypatch.setattr(rotation, "subprocess", SimpleNamespace(run=lambda *_, **__: SimpleNamespace(returncode=0)))
    outcomes: dict[str, Outcome] = {}
    monkeypatch.setattr(rotation, "run", lambda name, *_: outcomes.get(name, Outcome()))
    return outcomes


def test_the_part_that_ran_longest_ago_is_next() -> None:
    first, second, *others = PARTS
    records = {name: {"date": date(2026, 3, 1)} for name in others}
    records[first] = {"date": date(2026, 1, 2)}
    assert in_turn(records)[:3] == [second, first, others[0]]


def test_an_interrupted_rotation_continues_where_it_was(found: dict[str, Outcome]) -> None:
    assert list(run_parts(2, [])) == []
    first, second, third, *_ = PARTS
    assert list(read()) == [first, second]
    assert in_turn(read())[0] == third
    assert list(run_parts(None, [])) == []
    assert list(read()) == list(PARTS)


def test_a_failure_fails_the_run_until_it_is_listed_and_again_once_it_is_late(
    found: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = next(iter(PARTS))
    monkeypatch.setattr(rotation, "PARTS", {first: PARTS[first]})
    test = 'tests/a.py::test_a["quoted"]'
    found[first] = Outcome(failed=[f"{test}@docs"], unstable={"tests/b.py::test_b": "told"})
    assert list(run_parts(1, [])) == [f"{first}: {test}", f"{first}: tests/b.py::test_b"]
    [record, _] = read()[first]["failures"]
    assert record["test"] == test
    assert record["until"] == read()[first]["date"] + timedelta(days=7)

    assert list(run_parts(1, [])) == []
    assert f"it does not fail the run yet: {test}" in capsys.readouterr().out
    assert read()[first]["failures"][0] == record

    text = rotation.FILE.read_text(encoding="utf-8")
    rotation.FILE.write_text(text.replace(str(record["until"]), "2020-01-01"), encoding="utf-8")
    assert f"{first}: {test}" in list(run_parts(1, []))

    found.clear()
    assert list(run_parts(1, [])) == []
    assert read()[first]["failures"] == []


def test_every_test_is_in_a_part() -> None:
    """Tests for chips are commands of their own."""
    chosen = [part.chosen for part in PARTS.values() if part.chosen]
    for file in TESTS.rglob("test_*.py"):
        path = file.relative_to(TESTS.parent)
        if path.parts[1] not in ("gpu", "tpu"):
            assert any(_holds(arguments, path) for arguments in chosen), path


def _holds(arguments: tuple[str, ...], path: Path) -> bool:
    ignored = {arguments[position + 1] for position, each in enumerate(arguments) if each == "--ignore"}
    named = [each for each in arguments if each != "--ignore" and each not in ignored]
    return any(path.is_relative_to(each) for each in named) and not any(path.is_relative_to(each) for each in ignored)
