"""What a hostile repository, address or server cannot do: leave the address that was checked, or run anything here."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.authoring.repositories import git
from app.authoring.repositories.errors import SyncFailed
from app.authoring.repositories.git import Remote, read_git, usable_git
from grader.package.fault import PackageFault
from tests.app.authoring.repositories.asking import REPOSITORIES, outcomes, register, registered, sync
from tests.app.authoring.repositories.git_server import ADD_ONE, below

pytestmark = pytest.mark.anyio


def at(url: str, **fields: object) -> Remote:
    remote = Remote(url, "127.0.0.1", 0, (), "main", "", "x-access-token", None)
    return replace(remote, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/a.git",
        "https://127.0.0.1/a.git",
        "https://localhost/a.git",
        "https://[::1]/a.git",
        "https://user:password@example.org/a.git",
        "https://example.org:9200/a.git",
        "https://example.org/a.git#b",
        "ssh://git@example.org/a.git",
        "git@example.org:a.git://",
        "ext::sh -c touch% /tmp/x ://",
        "file:///etc",
        "--upload-pack=touch /tmp/x://",
    ],
)
async def test_an_address_that_is_not_on_the_internet_is_refused(service, address):
    refused = await register(service, address)
    assert (refused.status_code, refused.json()["slug"]) == (409, "repository-refused")
    assert "password" not in refused.text


async def test_a_name_that_resolves_to_an_internal_address_is_refused_at_the_sync(service, monkeypatch):
    async def internal(host: str, port: int, *, private: bool) -> list[str]:
        from app.core.outbound_requests import AddressRefused

        raise AddressRefused(f"{host} resolves to 169.254.169.254, which is not an address on the internet")

    monkeypatch.setattr("app.authoring.repositories.sync_runner.addresses_of", internal)
    finished = await sync(service, await registered(service, "https://git.example.org/a.git"))
    assert finished["fault"] == (
        "git.example.org cannot be used: git.example.org resolves to 169.254.169.254, which is not an address on the "
        "internet."
    )


def test_git_connects_to_the_address_that_was_checked_and_not_to_the_name(remote):
    remote.commit(below("a", ADD_ONE))
    # No resolver knows this name, so it can only come from the setting.
    url = remote.url.replace("127.0.0.1", "rebound.invalid")
    pinned = at(url, host="rebound.invalid", port=remote.port, addresses=("127.0.0.1",))
    assert [each.folder for each in read_git(pinned, threading.Event()).packages] == ["a"]
    elsewhere = replace(pinned, addresses=("127.0.0.2",), port=remote.port)
    remote.seen.clear()
    with pytest.raises(SyncFailed):
        read_git(replace(elsewhere, port=1), threading.Event())
    assert remote.seen == []


def test_a_redirect_is_not_followed(remote):
    remote.commit(below("a", ADD_ONE))
    remote.redirect = "http://127.0.0.1:1"
    with pytest.raises(SyncFailed, match="redirects to another one"):
        read_git(at(remote.url), threading.Event())
    assert len(remote.seen) == 1


@pytest.mark.parametrize(
    "url", ["ext::sh -c touch% ran", "file://{work}", "{work}", "ssh://localhost/a", "ftp://localhost/a"]
)
def test_other_transports_are_off_even_if_a_stored_address_had_one(remote, url, tmp_path):
    remote.commit(below("a", ADD_ONE))
    with pytest.raises(SyncFailed, match="not allowed"):
        read_git(at(url.format(work=remote.work)), threading.Event())
    assert not (tmp_path / "ran").exists()


def test_nothing_is_checked_out_so_hooks_filters_and_links_do_nothing(remote, tmp_path):
    (remote.work / "a").mkdir()
    os.symlink("/etc/passwd", remote.work / "a" / "editorial.md")
    files = {name: text for name, text in ADD_ONE.items() if name != "editorial.md"}
    remote.commit(below("a", files) | {".gitattributes": "* filter=evil\n", "a/.gitattributes": "* filter=evil\n"})
    [found] = read_git(at(remote.url), threading.Event()).packages
    assert found.files == {}
    message = "a/editorial.md is not a plain file: links, submodules and devices are not followed"
    assert found.faults == (PackageFault("unreadable-file", "a/editorial.md", None, message),)


def test_a_submodule_is_not_fetched(remote):
    commit = remote.commit(below("a", ADD_ONE))
    remote.git("update-index", "--add", "--cacheinfo", f"160000,{commit},a/figures")
    remote.git("commit", "--quiet", "--message", "x")
    remote.seen.clear()
    [found] = read_git(at(remote.url), threading.Event()).packages
    assert "a/figures is not a plain file" in found.faults[0].message
    assert all("problems.git/" in path for path in remote.seen)


def test_git_sees_nothing_of_the_service(monkeypatch):
    for name in ("MESHGRADE_OWNER_TOKEN", "https_proxy", "GIT_SSH_COMMAND", "GIT_CONFIG_PARAMETERS", "GIT_TRACE"):
        monkeypatch.setenv(name, "SECRET")
    environment = git._environment(Path("/nowhere"), git._settings_of(at("https://example.org/a.git")))
    assert "SECRET" not in str(environment)
    settings = dict(git._settings_of(at("https://example.org/a.git", addresses=("1.2.3.4", "::5"), host="h", port=443)))
    assert settings["http.curloptResolve"] == "h:443:1.2.3.4,[::5]"
    assert (settings["protocol.allow"], settings["protocol.https.allow"]) == ("never", "always")
    assert environment["GIT_TERMINAL_PROMPT"] == "0"


def test_a_large_repository_is_given_up(remote, monkeypatch):
    remote.commit(below("a", ADD_ONE) | {"noise.txt": os.urandom(2 << 20).hex()})
    monkeypatch.setattr(git, "_MAX_MIB", 1)
    with pytest.raises(SyncFailed):
        read_git(at(remote.url), threading.Event())


def test_a_server_that_does_not_end_is_given_up(remote, monkeypatch):
    remote.commit(below("a", ADD_ONE))
    remote.held.clear()
    monkeypatch.setattr(git, "_FETCH_S", 0.2)
    with pytest.raises(SyncFailed, match="It took over 0 s"):
        read_git(at(remote.url), threading.Event())


def test_a_server_that_stops_does_not_wait_for_a_sync(remote):
    remote.commit(below("a", ADD_ONE))
    remote.held.clear()
    stop = threading.Event()
    stop.set()
    with pytest.raises(SyncFailed, match="The server was stopped"):
        read_git(at(remote.url), stop)


async def test_an_access_token_is_sent_stored_encrypted_and_shown_nowhere(inside, remote, caplog, tmp_path):
    caplog.set_level("DEBUG")
    remote.commit(below("a", ADD_ONE))
    remote.password = "SECRET-OF-THE-REPOSITORY"
    closed = await sync(inside, await registered(inside, remote.url))
    assert closed["fault"].startswith("The repository does not exist, or needs an access token.")
    wrong = await sync(inside, await registered(inside, remote.url, access_token="WRONG-SECRET"))
    assert "It refused the access token." in wrong["fault"]
    repository = await registered(inside, remote.url, access_token=remote.password)
    assert outcomes(await sync(inside, repository)) == {"add_one": "updated"}
    for path in (REPOSITORIES, f"{REPOSITORIES}/{repository['id']}", "/api/v1/me/export", "/api/v1/audit"):
        shown = await inside.http.get(path, headers=inside.bearer)
        assert shown.status_code == 200
        assert "SECRET" not in shown.text.replace("REFERENCE-SECRET", ""), path
    assert "SECRET-OF" not in caplog.text
    assert repository["webhook_secret"] not in caplog.text
    for file in (tmp_path / "data").glob("*.sqlite3*"):
        assert b"SECRET-OF-THE-REPOSITORY" not in file.read_bytes()


async def test_without_git_the_page_the_interface_and_a_sync_say_so(service, remote, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert usable_git() is None
    refused = await register(service, "https://git.example.org/a.git")
    assert (refused.status_code, refused.json()["slug"]) == (503, "git-missing")
    with pytest.raises(SyncFailed, match=r"git 2\.37 or later is needed"):
        read_git(at(remote.url), threading.Event())
