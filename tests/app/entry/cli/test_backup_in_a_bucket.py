"""`meshgrade backup s3://…` and `restore s3://…`, against a store on this machine."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.core.clock import now
from app.core.settings import load_settings
from app.core.start_errors import BackupUnusable, SettingInvalid
from app.entry.cli.backup import backup
from app.entry.cli.migrate import migrate
from app.entry.cli.restore import restore
from app.operations.object_store import StoredObject
from tests.app.operations.s3_server import KEY, ObjectStoreServer, object_store


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStoreServer]:
    with object_store() as server:
        monkeypatch.setenv("MESHGRADE_DATABASE_URL", "")
        monkeypatch.setenv("MESHGRADE_S3_ENDPOINT", server.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
        monkeypatch.setattr("app.operations.object_store._TRIES", 0)
        yield server


@pytest.fixture
def data(tmp_path: Path, store: ObjectStoreServer) -> Path:
    migrate(tmp_path / "data")
    return tmp_path / "data"


def test_a_backup_is_uploaded_whole_and_restored(data, store, tmp_path, capsys):
    backup("s3://backups/school/first.tar.gz", data)
    assert list(store.objects) == ["school/first.tar.gz"]
    assert "s3://backups/school/first.tar.gz contains badge keys: 0, " in capsys.readouterr().out
    restore("s3://backups/school/first.tar.gz", tmp_path / "new")
    assert (tmp_path / "new" / "secret").read_bytes() == (data / "secret").read_bytes()
    with pytest.raises(BackupUnusable, match="exists already"):
        backup("s3://backups/school/first.tar.gz", data)


def test_in_a_folder_only_the_oldest_backups_are_deleted(data, store, monkeypatch, capsys):
    foreign = {"school/notes", "school/meshgrade-20200101T000000Z.tar.gz.part", "meshgrade-20200101T000000Z.tar.gz"}
    store.objects |= dict.fromkeys(foreign, b"")
    start = now()
    for day in range(4):
        monkeypatch.setattr("app.core.clock.now", lambda day=day: start + timedelta(days=day))
        backup("s3://backups/school/", data, keep=2)
    kept = sorted(set(store.objects) - foreign)
    assert kept == [(start + timedelta(days=day)).strftime("school/meshgrade-%Y%m%dT%H%M%SZ.tar.gz") for day in (2, 3)]
    assert foreign <= set(store.objects)
    assert capsys.readouterr().out.count("was deleted, because 2 newer backups are there.") == 2


def test_what_the_store_refuses_is_said_and_nothing_is_lost(data, store, tmp_path, monkeypatch):
    with pytest.raises(BackupUnusable, match=r"s3://nowhere/.*: the object store refused with NoSuchBucket"):
        backup("s3://nowhere/", data)
    with pytest.raises(BackupUnusable, match="NoSuchKey"):
        restore("s3://backups/none.tar.gz", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    store.objects["school/meshgrade-20200101T000000Z.tar.gz"] = b"old"
    store.is_down = True
    with pytest.raises(BackupUnusable, match="the object store"):
        backup("s3://backups/school/", data, keep=1)
    store.is_down = False
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    with pytest.raises(BackupUnusable, match="InvalidAccessKeyId") as refused:
        backup("s3://backups/school/", data, keep=1)
    assert "AWS_ACCESS_KEY_ID" in refused.value.remedy
    assert list(store.objects) == ["school/meshgrade-20200101T000000Z.tar.gz"]
    monkeypatch.setenv("MESHGRADE_S3_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(BackupUnusable, match="cannot be used"):
        backup("s3://backups/school/", data)


@pytest.mark.parametrize("address", ["s3://", "s3://B/x", "s3://backups", "s3://backups/a b", "s3://backups/x?y"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(BackupUnusable, match="is not the address of an object"):
        StoredObject.at(address)


@pytest.mark.parametrize("endpoint", ["s3.example.org", "https://s3.example.org/backups", "https://s3.example.org?x=1"])
def test_an_endpoint_that_is_none_is_refused(monkeypatch, endpoint):
    monkeypatch.setenv("MESHGRADE_S3_ENDPOINT", endpoint)
    with pytest.raises(SettingInvalid, match="s3_endpoint"):
        load_settings()
