"""Every command has a help text, and is documented."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.core.start_errors import StartRefused
from app.entry.cli.__main__ import COMMANDS, app, command_of
from tests.faults import for_each

CHECKOUT = Path(__file__).resolve().parents[4]
DOCS = "\n".join(path.read_text() for path in [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))])


@for_each("name", COMMANDS)
def test_a_command_says_what_it_does(name):
    assert command_of(name).help
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output


@for_each("name", [*COMMANDS, "bench", "test"])
def test_a_command_is_documented(name):
    assert re.search(rf"\./meshgrade {name}\b", DOCS), name


def test_the_help_names_every_command():
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    listed = re.findall(r"^│ ([a-z][a-z-]*) ", done.output, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", ["bench", "test"])
def test_a_command_of_the_checkout_says_where_it_runs(name):
    """The image has neither tests nor benchmarks."""
    done = CliRunner().invoke(app, [name, "--quick"])
    assert isinstance(done.exception, StartRefused)
    assert str(done.exception) == f"`{name}` needs a checkout of the repository"
    assert f"./meshgrade {name}" in done.exception.remedy


def test_the_version_is_that_of_the_project():
    done = CliRunner().invoke(app, ["--version"])
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert (done.exit_code, done.output) == (0, f"meshgrade {project['version']}\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("doc", {"doctor"}), ("mig", {"migrate"}), ("judge --j", {"--json"}), ("--ver", {"--version"})],
)
def test_commands_and_options_are_completed(typed, offered):
    """Complete as the script that `--install-completion` writes for bash does."""
    words = f"meshgrade {typed}"
    asked = {"_MESHGRADE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    command = [sys.executable, "-m", "app.entry.cli"]
    done = subprocess.run(command, cwd=CHECKOUT, env=os.environ | asked, capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == offered


def test_completion_is_offered_once_for_all_commands():
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).output
    for name in COMMANDS:
        assert "--install-completion" not in CliRunner().invoke(app, [name, "--help"]).output


def test_an_unknown_command_is_wrong_usage():
    done = CliRunner().invoke(app, ["subnit"])
    assert done.exit_code == 2
    assert "subnit" in done.output
