"""`--open`: a server explores the source, and the page opens in a browser, or its address is printed."""

import re
import webbrowser

import httpx
import pytest

from tests.app.entry.cli.remote.conftest import TOKEN

INPUT = 'x: float32[8, 4] P("data")'
FUNCTION = ("f", "--mesh", "data=2", "--input", INPUT, "--open")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were opened."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    return addresses


def exploration(live: str, address: str) -> dict:
    identity = re.fullmatch(re.escape(live) + r"/explore/([0-9a-f]{32})", address)
    assert identity
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.get(f"{live}/api/v1/explorations/{identity[1]}", headers=headers, timeout=60).json()


def test_a_function_is_explored_on_the_server_and_its_page_opens(meshgrade, live, logged_in, opened):
    done = meshgrade("explore", "-", *FUNCTION, stdin=b"def f(x):\n    return x\n")
    assert (done.code, done.err) == (0, "")
    assert opened == [done.out.strip()]
    found = exploration(live, opened[0])
    assert found["source"] == "def f(x):\n    return x\n"
    assert (found["function"]["name"], found["function"]["mesh"]) == ("f", {"data": 2})
    assert (found["problem"], found["against"], found["chip"]) == (None, None, None)


def test_modules_are_sent_too(meshgrade, live, logged_in, opened, tmp_path):
    (tmp_path / "train.py").write_text("from model import f\n")
    (tmp_path / "model.py").write_text("def f(x):\n    return x\n")
    done = meshgrade("explore", tmp_path / "train.py", *FUNCTION)
    assert (done.code, done.err) == (0, f"Also taken, because they are imported: {tmp_path / 'model.py'}\n")
    assert exploration(live, opened[0])["function"]["modules"] == {"model": "def f(x):\n    return x\n"}


def test_the_step_of_a_problem_is_compared_with_the_reference(meshgrade, live, logged_in, opened, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    done = meshgrade("inspect", "psum_scatter_mean", file, "--against", "reference", "--chip", "v5e", "--open")
    assert (done.code, done.err) == (0, "")
    found = exploration(live, opened[0])
    assert (found["problem"], found["source"], found["chip"]) == ("psum_scatter_mean", "x = 1\n", "v5e")
    assert "psum_scatter" in found["against"]


@pytest.mark.parametrize("error", [None, webbrowser.Error("no browser"), OSError("no display")])
def test_without_a_browser_the_address_is_printed(meshgrade, live, logged_in, monkeypatch, error):
    def no_browser(address):
        if error:
            raise error
        return False

    monkeypatch.setattr(webbrowser, "open", no_browser)
    done = meshgrade("explore", "-", *FUNCTION, stdin=b"def f(x):\n    return x\n")
    assert done.code == 0
    assert exploration(live, done.out.strip())["function"]["name"] == "f"
    assert "No browser could be opened here." in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explore", "-", *FUNCTION), "You are not logged in to"),
        (("explore", "-", *FUNCTION, "--json"), "--open shows a page, and --json prints data"),
    ],
)
def test_what_cannot_be_opened_is_refused(meshgrade, live, opened, arguments, message):
    done = meshgrade(*arguments, "--server", live, stdin=b"def f(x):\n    return x\n")
    assert (done.code, done.out, opened) == (2, "", [])
    assert message in done.err


def test_what_the_server_refuses_is_said(meshgrade, live, logged_in, opened):
    done = meshgrade("explore", "-", *FUNCTION, stdin=b"  \n")
    assert (done.code, opened) == (2, [])
    assert "only whitespace" in done.err
