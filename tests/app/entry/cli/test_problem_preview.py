"""`meshgrade problem preview`: a saved version is soon on the page, and a broken one is not."""

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from app.core.start_errors import StartRefused
from app.entry.cli.__main__ import app
from grader.package.fault import PackageInvalid
from tests.app.entry.cli.test_serve import CHECKOUT, command, environment

# It takes half a second. On a busy machine, more.
WITHIN_S = 120.0


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "problems" / "add_one"
    shutil.copytree(CHECKOUT / "tests" / "grader" / "packages" / "add_one", folder)
    (folder / "statement.md").write_text("## Problem\n\nWrite `add_one(x)`: it returns `x + 1`.\n")
    return folder


@contextmanager
def previewing(package: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the address of the problem's page."""
    process = subprocess.Popen(
        [*command()[:2], "problem", "preview", str(package), "--port", "0"],
        env=environment(COLUMNS="200"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process, re.findall(r"http://\S+", until(process, "Preview of"))[0]
    finally:
        process.kill()
        process.wait()


def until(process, words):
    """The first line with these words."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return line
    raise AssertionError("".join(lines))


def appears(address, words):
    """Whether the page has these words in time."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        if words in httpx.get(address, timeout=60).text:
            return True
        time.sleep(0.05)
    return False


def test_what_is_saved_is_served(package):
    statement = package / "statement.md"
    with previewing(package) as (process, address):
        page = httpx.get(address, timeout=60).text
        assert "it returns" in page
        assert "The files break no rule." in page
        assert page.index("Quick checks") < page.index('<main id="main"')
        site = address.partition("/problems/")[0]
        assert "location.reload" in httpx.get(f"{site}/preview/reload.js", timeout=60).text
        assert httpx.get(f"{site}/preview/state", timeout=60).json() == {"saved": 0}
        statement.write_text("## Problem\n\nWrite `add_one(x)`: it returns one more.\n")
        assert appears(address, "one more")
        assert re.search(r"version [0-9a-f]{12} is served", until(process, "Saved: version"))

        # A version that cannot be read changes nothing, and says why.
        manifest = (package / "problem.toml").read_text()
        (package / "problem.toml").write_text(manifest.replace("add_one", "add_two", 1))
        until(process, "Saved, but the package cannot be read")
        assert "slug is 'add_two'" in until(process, "error manifest")
        page = httpx.get(address, timeout=60).text
        assert "one more" in page
        assert "The package cannot be read. This page shows an earlier version." in page
        assert "<code>manifest</code> problem.toml" in page
        assert httpx.get(f"{site}/preview/state", timeout=60).json()["saved"] >= 2

        (package / "problem.toml").write_text(manifest)
        statement.write_text("## Problem\n\nTODO(author): Write `add_one(x)`, which returns another.\n")
        assert appears(address, "which returns another")
        until(process, "error todo statement.md:3")
        assert appears(address, "<code>todo</code> statement.md:3: Write `add_one(x)`, which returns another.")

        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_a_package_that_cannot_be_read_is_not_served(package):
    (package / "hints.md").unlink()
    done = CliRunner().invoke(app, ["problem", "preview", str(package)])
    assert isinstance(done.exception, PackageInvalid)
    assert [str(each) for each in done.exception.faults] == ["hints.md is missing or empty"]


def test_only_one_package_can_be_previewed(package):
    shutil.copytree(package, package.parent / "add_two")
    done = CliRunner().invoke(app, ["problem", "preview", str(package.parent)])
    assert isinstance(done.exception, StartRefused)
    assert "contains 2 packages" in str(done.exception)
