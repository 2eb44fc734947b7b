"""`meshgrade backup FOLDER --keep N`: what a timer calls every night."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from app.core.clock import now
from app.core.start_errors import BackupUnusable
from app.entry.cli.backup import backup
from app.entry.cli.migrate import migrate


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", "")
    folder = tmp_path / "data"
    migrate(folder)
    return folder


def test_files_are_named_after_the_time_and_only_the_oldest_backups_are_deleted(data, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in ("meshgrade.tar.gz", "meshgrade-20200101T000000Z.tar.gz.part", "notes"):
        (folder / name).touch()
    foreign = set(folder.iterdir())
    start = now()
    for day in range(4):
        monkeypatch.setattr("app.core.clock.now", lambda day=day: start + timedelta(days=day))
        backup(str(folder), data, keep=2)
    kept = sorted(set(folder.iterdir()) - foreign)
    assert foreign <= set(folder.iterdir())
    assert len(kept) == 2
    assert all(re.fullmatch(r"meshgrade-\d{8}T\d{6}Z\.tar\.gz", each.name) for each in kept)
    assert kept[-1].name == (start + timedelta(days=3)).strftime("meshgrade-%Y%m%dT%H%M%SZ.tar.gz")
    assert capsys.readouterr().out.count("was deleted, because 2 newer backups are there.") == 2


def test_nothing_is_deleted_if_the_backup_fails_or_without_keep(data, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    old = [folder / f"meshgrade-2020010{day}T000000Z.tar.gz" for day in (1, 2, 3)]
    for each in old:
        each.touch()
    backup(str(folder), data)
    assert len(list(folder.iterdir())) == 4
    with pytest.raises(BackupUnusable):
        backup(str(tmp_path / "none"), data, keep=1)
    (data / "secret").unlink()
    with pytest.raises(Exception, match="secret"):
        backup(str(folder), data, keep=1)
    assert all(each.exists() for each in old)
