"""`problem sync` of an author, against a real server that may read a folder."""

import pytest

from tests.app.authoring.repositories.git_server import ADD_ONE, below, write_tree
from tests.app.entry.cli.remote.conftest import TOKEN
from tests.app.entry.cli.test_serve import serving


@pytest.fixture
def shelf(meshgrade, tmp_path):
    folder = tmp_path / "shelf"
    folder.mkdir()
    with serving(tmp_path / "data", MESHGRADE_OWNER_TOKEN=TOKEN, MESHGRADE_SYNC_FOLDERS=str(folder)) as (_, address, _):
        assert meshgrade("login", address, "--token-stdin", stdin=f"{TOKEN}\n".encode()).code == 0
        yield folder


def test_a_folder_is_registered_once_and_synced_with_a_report(meshgrade, shelf):
    write_tree(shelf, below("a", ADD_ONE))
    done = meshgrade("problem", "sync")
    assert (done.code, "No repository is registered" in done.out) == (0, True)

    done = meshgrade("problem", "sync", shelf)
    assert (done.code, done.err) == (0, "")
    assert f"Registered {shelf}. For a webhook at each push:" in done.out
    assert "/webhook\n  secret   " in done.out
    assert "  new       add_one, version " in done.out

    (shelf / "a" / "hints.md").write_text("No heading.\n")
    done = meshgrade("problem", "sync")
    assert done.code == 1
    finding = "hints hints.md: hints.md has no heading such as `## Hint 1`"
    assert done.out == f"{shelf}\n  refused   add_one\n    {finding}\n"

    done = meshgrade("problem", "sync", shelf / "gone")
    assert (done.code, "is not a folder on the server" in done.err) == (2, True)
    done = meshgrade("problem", "sync", "--branch", "main")
    assert (done.code, "Name its ADDRESS" in done.err) == (2, True)
