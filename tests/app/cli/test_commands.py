"""Every command can be asked for help, and is documented."""

import importlib
import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from app.cli.__main__ import COMMANDS, app

CHECKOUT = Path(__file__).resolve().parents[3]
DOCS = "\n".join(path.read_text() for path in [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))])


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does(name):
    command = get_command(importlib.import_module(COMMANDS[name]).app)
    assert command.help
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_documented(name):
    assert re.search(rf"\./meshgrade {name}\b", DOCS), name


def test_an_unknown_command_is_wrong_usage():
    done = CliRunner().invoke(app, ["subnit"])
    assert done.exit_code == 2
    assert "subnit" in done.output
