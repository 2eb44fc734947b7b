"""The editor in app/core/static is what frontend/ builds, byte for byte.

A build fetches packages, so only `./meshgrade test --all` builds. Each run compares the digests that a build has left.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[4]
STATIC = CHECKOUT / "app/core/static"
LOCK = CHECKOUT / "frontend/package-lock.json"
BUILD = "the committed bundle is not what frontend/ builds; run: cd frontend && npm ci && npm run build"


@pytest.fixture
def npm() -> str:
    found = shutil.which("npm")
    if found is not None and shutil.which("node") is not None:
        return found
    message = "node and npm are needed to rebuild the editor; on Debian: apt-get install nodejs npm"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def _bundle(folder: Path) -> dict[str, bytes]:
    files = (folder / "editor.js", *sorted((folder / "editor").iterdir()))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files if file.suffix != ".br"}


def test_the_committed_bundle_was_built_from_these_sources() -> None:
    kept = json.loads((CHECKOUT / "frontend/bundle.json").read_text(encoding="utf-8"))
    assert kept == {
        "sources": {name: _digest_of_source(name) for name in kept["sources"]},
        "built": {name: _digest(content) for name, content in sorted(_bundle(STATIC).items())},
    }, BUILD
    imported = re.findall(r'"\./([a-z_]+\.js)"', "".join(file.read_text() for file in CHECKOUT.glob("frontend/*.js")))
    assert {*imported, "editor.js", "build.mjs", "packages"} == kept["sources"].keys(), BUILD


def _digest_of_source(name: str) -> str:
    if name != "packages":
        return _digest((CHECKOUT / "frontend" / name).read_bytes())
    # Without the entry of the front end itself, which has the release's version.
    packages = {path: package for path, package in json.loads(LOCK.read_text())["packages"].items() if path}
    return _digest(json.dumps(packages, ensure_ascii=False, separators=(",", ":")).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.rotation
@pytest.mark.timeout(900)
def test_a_fresh_build_gives_the_committed_bundle(npm: str, tmp_path: Path) -> None:
    frontend = tmp_path / "frontend"
    shutil.copytree(CHECKOUT / "frontend", frontend, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=frontend, check=True, capture_output=True, text=True)
    subprocess.run([npm, "run", "build", "--", str(tmp_path)], cwd=frontend, check=True, capture_output=True, text=True)
    same = _bundle(tmp_path) == _bundle(STATIC)
    assert same, BUILD
    assert (frontend / "bundle.json").read_bytes() == (CHECKOUT / "frontend/bundle.json").read_bytes()


def test_what_is_stored_compressed_is_the_file_beside_it(npm: str) -> None:
    """Compared by its content: another release of Node.js may compress a little better."""
    stored = sorted(STATIC.rglob("*.br"))
    assert stored
    read = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs').readFileSync(process.argv[1])))"
    for file in stored:
        content = subprocess.run(["node", "-e", read, str(file)], check=True, capture_output=True).stdout
        assert content == file.with_suffix("").read_bytes(), f"{file.name}: cd frontend && npm ci && npm run build"


def test_the_lock_file_names_no_host_and_pins_every_package() -> None:
    text = LOCK.read_text()
    assert not re.search(r'"resolved"|registry', text)
    packages = json.loads(text)["packages"]
    assert all("integrity" in package for path, package in packages.items() if path)


def test_the_bundle_carries_the_licences_of_what_is_in_it() -> None:
    assert "editor/licences.txt" in (STATIC / "editor.js").read_text()[:100]
    licences = (STATIC / "editor/licences.txt").read_text()
    for package in ("@codemirror/state", "@codemirror/view", "@lezer/python", "style-mod"):
        assert package in licences
    assert "Permission is hereby granted, free of charge" in licences


def test_the_names_that_are_completed_are_those_of_the_installed_packages() -> None:
    command = [sys.executable, str(CHECKOUT / "frontend/library_names.py")]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    written = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    same = json.loads(written) == json.loads((STATIC / "library_names.json").read_text())
    assert same, "run: .venv/bin/python frontend/library_names.py >app/core/static/library_names.json"
