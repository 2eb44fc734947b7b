"""Generated files are what the checkout makes of them, and one call writes those that are stale."""

from pathlib import Path

import pytest

from tests import write
from tests.app.core.rest import examples, openapi_document


def test_no_generated_file_is_stale() -> None:
    found = write.stale()
    assert found == [], f"{', '.join(found)}: read the difference after {write.COMMAND}"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, of which one is stale, and examples that hold."""
    monkeypatch.setattr(write, "FILES", {"docs/one.json": lambda: "one", "docs/two.json": lambda: "two"})
    monkeypatch.setattr(openapi_document, "described", dict)
    monkeypatch.setattr(examples, "wanting", lambda document, written: set())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "one.json").write_text("one", encoding="utf-8")
    return tmp_path


def test_only_stale_files_are_written(checkout: Path) -> None:
    before = (checkout / "docs" / "one.json").stat().st_mtime_ns
    assert write.stale(checkout) == ["docs/two.json"]
    assert write.write(checkout) == ["docs/two.json"]
    assert (checkout / "docs" / "two.json").read_text(encoding="utf-8") == "two"
    assert (checkout / "docs" / "one.json").stat().st_mtime_ns == before
    assert write.stale(checkout) == []


def test_missing_examples_are_filled_before_the_files_that_contain_them(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: list[list[str]] = []
    monkeypatch.setattr(write, "FILES", {"docs/one.json": lambda: f"filled: {len(filled)}"})
    monkeypatch.setattr(examples, "wanting", lambda document, written: {"AttemptJSON"})
    assert write.write(checkout, filled.append) == ["docs/one.json", "app/core/rest/examples.json"]
    assert filled == [["tests/app"]]
    assert (checkout / "docs" / "one.json").read_text(encoding="utf-8") == "filled: 1"
