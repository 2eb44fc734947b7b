"""The data folder is private, locked by one process, and has a secret that never changes by itself."""

import os
import stat

import pytest

from app.core.data_folder import DataFolder
from app.core.start_errors import DataFolderInUse, DataFolderUnusable


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_private(tmp_path):
    with DataFolder(tmp_path / "a" / "b") as data:
        assert mode(data.path) == 0o700
        assert mode(data.path / "secret") == 0o600


def test_a_lax_folder_is_closed(tmp_path):
    (tmp_path / "data").mkdir(mode=0o755)
    with DataFolder(tmp_path / "data") as data:
        assert mode(data.path) == 0o700


def test_the_secret_stays(tmp_path):
    with DataFolder(tmp_path) as data:
        first = data.secret
    with DataFolder(tmp_path) as data:
        assert data.secret == first
    assert len(first) == 32
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "secret"]


def test_a_second_server_is_refused_by_name_and_pid(tmp_path):
    with DataFolder(tmp_path), pytest.raises(DataFolderInUse, match=rf"pid {os.getpid()}\).*{tmp_path}"):
        DataFolder(tmp_path)
    with DataFolder(tmp_path) as first, DataFolder(tmp_path, locks=False) as further:
        assert further.secret == first.secret
        further.close()
        with pytest.raises(DataFolderInUse):
            DataFolder(tmp_path)


def test_a_damaged_secret_is_not_replaced(tmp_path):
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(DataFolderUnusable, match="expected 32 bytes, got 5"):
        DataFolder(tmp_path)
    assert (tmp_path / "secret").read_bytes() == b"short"


def test_a_secret_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"x" * 32)
    (tmp_path / "secret").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataFolderUnusable):
        DataFolder(tmp_path)


@pytest.mark.parametrize("below", ["file", "file/data"])
def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path, below):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderUnusable, match="cannot be used"):
        DataFolder(tmp_path / below)
