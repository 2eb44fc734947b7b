"""`./meshgrade` finds a Python: in its own checkout, with commands that only print their arguments."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
TOOLS = ("cat", "cmp", "cp", "find", "mkdir", "rm", "sed", "tail", "uname")
# Installs nothing: it records its arguments, and `sync` creates a Python.
UV = """#!/bin/sh
[ "$1" = --version ] || echo "$@" "downloads=$UV_PYTHON_DOWNLOADS" >>"$HOME/uv.log"
if [ "$1" = sync ]; then
    mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"
    cp "$HOME/made" "$UV_PROJECT_ENVIRONMENT/bin/python"
fi
"""


class Checkout:
    """The wrapper, its files and an otherwise empty machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.path = folder / "checkout", folder / "home", folder / "home" / "bin"
        (self.folder / "grader").mkdir(parents=True)
        self.path.mkdir(parents=True)
        for name in ("meshgrade", "pyproject.toml", "uv.lock", "next-jax.txt"):
            shutil.copy(CHECKOUT / name, self.folder)
        for tool in TOOLS:
            (self.path / tool).symlink_to(str(shutil.which(tool)))
        self.command(self.path / "id", "echo 1000")
        self.command(self.path / "bwrap", "")
        (self.path / "uv").write_text(UV)
        (self.path / "uv").chmod(0o755)
        self.python(self.home / "made", "3.0.0")

    def command(self, path: Path, script: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def python(self, path: Path, release: str) -> Path:
        minor = release.rpartition(".")[0]
        return self.command(path, f'[ "$1" = -c ] && echo "cpython {minor} {release} {path}" || echo "ran $0 $*"')

    def shim(self, name: str) -> Path:
        """The file that pyenv creates for a version that is installed and not selected."""
        return self.command(self.path / name, f"echo 'pyenv: {name}: command not found' >&2; exit 127")

    def run(self, *arguments: str, **others: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.path), "HOME": str(self.home), **others}
        return subprocess.run(
            ["/bin/sh", str(self.folder / "meshgrade"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self) -> list[str]:
        log = self.home / "uv.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_newest_python_that_runs_is_taken_and_told(checkout: Checkout):
    checkout.shim("python3.14")
    checkout.python(checkout.path / "python3.11", "3.11.7")
    newest = checkout.python(checkout.path / "python3.13", "3.13.2")
    done = checkout.run("doctor")
    assert f"into .venv, with Python 3.13.2 ({newest})" in done.stderr
    assert checkout.asked() == [f"sync --frozen --inexact --python {newest} --no-dev downloads=never"]
    assert done.stdout == f"ran {checkout.folder}/.venv/bin/python -m app.entry.cli doctor\n"
    # The second call finds everything as it should be.
    assert checkout.run("doctor").stderr == ""
    assert len(checkout.asked()) == 1


def test_a_python_that_has_no_version_in_its_name_is_found(checkout: Checkout):
    python = checkout.python(checkout.path / "python3", "3.12.4")
    checkout.run("doctor")
    assert f"--python {python} " in checkout.asked()[0]


def test_one_that_pyenv_has_not_selected_is_taken_where_the_path_has_none(checkout: Checkout):
    checkout.shim("python3.12")
    checkout.python(checkout.path / "python3", "3.9.2")
    installed = checkout.home / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3.12"
    checkout.python(installed, "3.12.1")
    assert f"Python 3.12.1 ({installed})" in checkout.run("doctor").stderr
    checkout.python(checkout.path / "python3.11", "3.11.7")
    shutil.rmtree(checkout.folder / ".venv")
    assert "with Python 3.11.7 " in checkout.run("doctor").stderr


def test_a_virtual_environment_that_works_keeps_its_python(checkout: Checkout):
    checkout.python(checkout.path / "python3.14", "3.14.0")
    kept = checkout.python(checkout.folder / ".venv" / "bin" / "python", "3.12.1")
    assert f"with Python 3.12.1 ({kept})" in checkout.run("doctor").stderr


@pytest.mark.parametrize("python", [None, "3.10.13", "3.15.0"], ids=["none", "older", "newer"])
def test_without_a_supported_python_it_says_which_ones_are(checkout: Checkout, python: str | None):
    if python:
        checkout.python(checkout.path / "python3", python)
    done = checkout.run("doctor")
    assert done.returncode == 2
    assert "Meshgrade needs one of these versions of Python: 3.14 3.13 3.12 3.11. None was found" in done.stderr
    assert "sudo apt-get install python3 python3-venv" in done.stderr
    assert checkout.asked() == []


def test_the_next_jax_has_a_virtual_environment_of_its_own(checkout: Checkout):
    checkout.python(checkout.path / "python3.11", "3.11.7")
    newer = checkout.python(checkout.path / "python3.12", "3.12.4")
    done = checkout.run("test", "--next-jax")
    where = f"{checkout.folder}/.venv-next/bin/python"
    assert f"into .venv-next, with Python 3.12.4 ({newer})" in done.stderr
    assert checkout.asked() == [
        f"sync --frozen --inexact --python {newer} --group dev downloads=never",
        f"pip install --python {where} --requirements {checkout.folder}/next-jax.txt downloads=never",
    ]
    assert done.stdout == f"ran {where} -m tests --next-jax\n"
    assert not (checkout.folder / ".venv").exists()
    # What it names is part of what the virtual environment is made from.
    (checkout.folder / "next-jax.txt").write_text("# Python 3.12 or newer\njax==0.13.0\n")
    checkout.run("test", "--next-jax")
    assert len(checkout.asked()) == 4


def test_the_next_jax_fails_where_its_python_is_missing(checkout: Checkout):
    checkout.python(checkout.path / "python3.11", "3.11.7")
    done = checkout.run("test", "--next-jax")
    assert done.returncode == 2
    assert "the next line of JAX (next-jax.txt) needs one of these versions of Python: 3.14 3.13 3.12." in done.stderr


def test_the_compiler_for_tpus_is_installed_only_when_it_is_asked_for(checkout: Checkout):
    python = checkout.python(checkout.path / "python3.12", "3.12.4")
    own = f"{checkout.folder}/.venv/bin/python"
    done = checkout.run("install-tpu")
    assert checkout.asked() == [
        f"sync --frozen --inexact --python {python} --no-dev downloads=never",
        f"sync --frozen --inexact --python {own} --extra tpu --no-dev downloads=never",
    ]
    assert done.stdout == f"ran {own} -m app.entry.cli install-tpu\n"
    checkout.run("test", "--tpu", "--", "-x")
    assert checkout.asked()[-1] == f"sync --frozen --inexact --python {own} --extra tpu --group dev downloads=never"
    number = len(checkout.asked())
    checkout.run("install-tpu", "--help")
    checkout.run("test", "--", "--tpu")
    assert len(checkout.asked()) == number


def test_the_compiler_for_gpus_is_installed_only_when_it_is_asked_for(checkout: Checkout):
    checkout.python(checkout.path / "python3.12", "3.12.4")
    (checkout.folder / "gpu-compiler.txt").write_text("jax-cuda12-pjrt==0.10.2\n")
    own, folder = (f"{checkout.folder}/.venv/{each}" for each in ("bin/python", "lib/gpu-compiler"))
    asked = f"pip install --python {own} --target {folder} --no-deps --require-hashes --requirements"
    done = checkout.run("install-gpu")
    assert "into .venv/lib/gpu-compiler: 0.5 GB" in done.stderr
    asked = f"{asked} {checkout.folder}/gpu-compiler.txt downloads=never"
    assert [each for each in checkout.asked() if each.startswith("pip")] == [asked]
    assert done.stdout == f"ran {own} -m app.entry.cli install-gpu\n"
    # It is there already, and stays with the packages of the tests.
    checkout.run("install-gpu", "--help")
    checkout.run("test", "--gpu", "--", "-x")
    checkout.run("test", "--", "--gpu")
    assert [each for each in checkout.asked() if each.startswith("pip")] == [asked]
    (checkout.folder / "gpu-compiler.txt").write_text("jax-cuda12-pjrt==0.13.0\n")
    checkout.run("test", "--gpu")
    assert checkout.asked()[-1] == asked


def test_what_goes_to_pytest_chooses_no_jax(checkout: Checkout):
    checkout.python(checkout.path / "python3.12", "3.12.4")
    for tool in ("chromium", "node", "npm", "curl", "jq", "openssl", "zip"):
        checkout.command(checkout.path / tool, "")
    assert "/.venv/bin/python -m tests -- --next-jax" in checkout.run("test", "--", "--next-jax").stdout


def test_quick_needs_neither_a_browser_nor_npm(checkout: Checkout):
    checkout.python(checkout.path / "python3.12", "3.12.4")
    assert "chromium is missing" in checkout.run("test").stderr
    quick = checkout.run("test", "--quick")
    assert quick.stderr == ""
    assert "-m tests --quick" in quick.stdout
    # After a -- it is pytest's.
    assert "chromium is missing" in checkout.run("test", "--", "--quick").stderr


def test_compiled_files_are_kept_below_the_checkout_whatever_the_environment_says(checkout: Checkout):
    script = 'echo "[${PYTHONDONTWRITEBYTECODE-}] $PYTHONPYCACHEPREFIX"'
    checkout.python(checkout.path / "python3.12", "3.12.4")
    checkout.run("doctor")
    checkout.command(checkout.folder / ".venv" / "bin" / "python", script)
    done = checkout.run("doctor", PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout == f"[] {checkout.folder}/.meshgrade/pycache\n"


def test_the_wrapper_itself_runs_on_the_python_that_runs_this(tmp_path: Path):
    """The question that it asks each Python, to a real one."""
    question = re.search(r"\"\$2\" -c '([^']+)'", (CHECKOUT / "meshgrade").read_text())
    assert question
    answer = subprocess.run([sys.executable, "-c", question[1]], capture_output=True, text=True, check=True).stdout
    release = ".".join(map(str, sys.version_info[:3]))
    assert answer == f"cpython 3.{sys.version_info[1]} {release} {sys.executable}\n"
    assert os.access(CHECKOUT / "meshgrade", os.X_OK)
