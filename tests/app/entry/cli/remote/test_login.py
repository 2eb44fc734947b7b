"""Logging in and out: stored data, refusals, and a token that is never shown."""

import json
import os
import pty
import stat
import subprocess
import sys

import pytest

from app.core.start_errors import ServerAddressUnusable, TokenFileUnusable
from app.entry.cli.remote.address import read_address, require_safe
from app.entry.cli.remote.token_store import Remembered, read_remembered, remember, token_file
from tests.app.entry.cli.remote.conftest import TOKEN
from tests.app.entry.cli.test_serve import environment


def test_a_token_that_works_is_kept_for_its_owner_alone(meshgrade, live):
    done = meshgrade("login", live, "--token-stdin", stdin=f"{TOKEN}\n".encode())
    assert (done.code, done.err) == (0, "")
    assert f"Logged in to {live} as owner (owner)" in done.out
    assert TOKEN not in done.out
    assert stat.S_IMODE(token_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(token_file().parent.stat().st_mode) == 0o700
    assert json.loads(token_file().read_text()) == {"current": live, "tokens": {live: TOKEN}}


def test_a_token_that_does_not_work_takes_the_place_of_nothing(meshgrade, logged_in):
    done = meshgrade("login", logged_in, "--token-stdin", stdin=b"another-token\n")
    assert done.code == 2
    assert "did not accept your token" in done.err
    assert "another-token" not in done.out + done.err
    assert read_remembered().tokens == {logged_in: TOKEN}


@pytest.mark.parametrize("stdin", [b"", b"\n", b"two words\n", "ümlaut\n".encode(), b"with-\x1b-escape\n"])
def test_what_no_header_can_carry_is_refused_before_it_is_sent(meshgrade, stdin):
    done = meshgrade("login", "http://127.0.0.1:9", "--token-stdin", stdin=stdin)
    assert done.code == 2
    assert "not an API token" in done.err
    assert "cannot be reached" not in done.err


def test_without_a_terminal_the_token_must_be_piped(meshgrade):
    done = meshgrade("login", "http://127.0.0.1:9")
    assert done.code == 2
    assert "--token-stdin" in done.err


def test_the_terminal_does_not_echo_the_token(tmp_path, live):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.entry.cli", "login", live],
        env=environment(XDG_CONFIG_HOME=str(tmp_path)),
        # getpass talks to the controlling terminal, not to standard input.
        preexec_fn=lambda: os.login_tty(follower),
    )
    os.close(follower)
    said = b""
    while b"API token for" not in said:
        said += os.read(leader, 1024)
    os.write(leader, f"{TOKEN}\n".encode())
    try:
        while chunk := os.read(leader, 1024):
            said += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    assert process.wait(timeout=60) == 0
    os.close(leader)
    assert b"Logged in" in said
    assert TOKEN.encode() not in said


def test_logging_out_forgets_this_server_alone(meshgrade, logged_in):
    kept = read_remembered()
    remember(Remembered(current=kept.current, tokens=kept.tokens | {"https://other.example": "other"}))
    assert meshgrade("logout").code == 0
    assert read_remembered() == Remembered(current=None, tokens={"https://other.example": "other"})
    done = meshgrade("logout", logged_in)
    assert done.code == 2
    assert "https://other.example" in done.err


def test_the_environment_wins_over_what_is_kept(meshgrade, logged_in, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TOKEN", "a-token-of-the-environment")
    done = meshgrade("problems")
    assert done.code == 2
    assert "did not accept your token" in done.err
    monkeypatch.setenv("MESHGRADE_SERVER", "http://127.0.0.1:9")
    assert "http://127.0.0.1:9 cannot be reached" in meshgrade("problems").err


def test_the_environment_alone_is_enough(meshgrade, live, monkeypatch):
    monkeypatch.setenv("MESHGRADE_SERVER", live)
    monkeypatch.setenv("MESHGRADE_TOKEN", TOKEN)
    assert meshgrade("problems").code == 0
    assert not token_file().exists()


def test_a_token_does_not_travel_in_the_clear(meshgrade, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TOKEN", TOKEN)
    done = meshgrade("problems", "--server", "http://grader.invalid")
    assert done.code == 2
    assert "--insecure" in done.err
    # With --insecure, the host is at least looked up.
    assert "cannot be reached" in meshgrade("problems", "--server", "http://grader.invalid", "--insecure").err


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("HTTPS://Grader.Example:443/", "https://grader.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_a_server_has_one_spelling(text, address):
    assert read_address(text) == address
    assert read_address(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "grader.example",
        "ftp://grader",
        "https://",
        "https://a/b",
        "https://me:secret@a",
        "https://a?b",
        "http://a:b",
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ServerAddressUnusable, match="not the address of a server"):
        read_address(text)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_plain_http_is_for_this_machine(host):
    require_safe(f"http://{host}:8000", insecure=False)


@pytest.mark.parametrize("host", ["10.0.0.1", "localhost.example", "127.0.0.1.example", "[::ffff:10.0.0.1]"])
def test_plain_http_is_for_no_other_machine(host):
    with pytest.raises(ServerAddressUnusable):
        require_safe(f"http://{host}", insecure=False)


def test_a_damaged_or_planted_token_file_is_refused(meshgrade, tmp_path):
    remember(Remembered())
    token_file().write_text('{"tokens": {"https://a": 1}}')
    with pytest.raises(TokenFileUnusable, match="not a file of tokens"):
        read_remembered()
    token_file().unlink()
    token_file().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TokenFileUnusable, match="cannot be used"):
        read_remembered()


def test_a_lax_token_file_is_closed(meshgrade):
    remember(Remembered())
    token_file().chmod(0o644)
    read_remembered()
    assert stat.S_IMODE(token_file().stat().st_mode) == 0o600
