"""The editor in app/web/static/editor.js is what frontend/ builds, byte for byte."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
BUNDLE = CHECKOUT / "app/web/static/editor.js"
LOCK = CHECKOUT / "frontend/package-lock.json"


@pytest.fixture
def npm() -> str:
    found = shutil.which("npm")
    if found is not None and shutil.which("node") is not None:
        return found
    message = "node and npm are needed to rebuild the editor; on Debian: apt-get install nodejs npm"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.mark.timeout(300)
def test_a_fresh_build_gives_the_committed_bundle(npm: str, tmp_path: Path) -> None:
    frontend = tmp_path / "frontend"
    shutil.copytree(CHECKOUT / "frontend", frontend, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=frontend, check=True, capture_output=True, text=True)
    subprocess.run([npm, "run", "build", "--", str(tmp_path)], cwd=frontend, check=True, capture_output=True, text=True)
    same = (tmp_path / "editor.js").read_bytes() == BUNDLE.read_bytes()
    assert same, "the committed bundle is not what frontend/ builds; run: cd frontend && npm ci && npm run build"


def test_the_lock_file_names_no_host_and_pins_every_package() -> None:
    text = LOCK.read_text()
    assert not re.search(r'"resolved"|registry', text)
    packages = json.loads(text)["packages"]
    assert all("integrity" in package for path, package in packages.items() if path)


def test_the_bundle_carries_the_licences_of_what_is_in_it() -> None:
    head = BUNDLE.read_text()[:10_000]
    for package in ("@codemirror/state", "@codemirror/view", "@lezer/python", "style-mod"):
        assert package in head
    assert "Permission is hereby granted, free of charge" in head
