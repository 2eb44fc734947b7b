"""Commands for contributors name what is missing if only the service is installed, as in the image."""

import pytest
from typer.testing import CliRunner

from app.cli import checkout
from app.cli.__main__ import app
from app.start_errors import StartRefused


@pytest.mark.parametrize(
    ("command", "lacks"),
    [("bench", "the folder benchmarks/"), ("test", "the folder tests/, the Python package pytest")],
)
def test_what_the_image_does_not_hold_is_named(monkeypatch, tmp_path, command, lacks):
    (tmp_path / "problems").mkdir()
    monkeypatch.setattr(checkout, "CHECKOUT", tmp_path)
    original = checkout.importlib.util.find_spec
    monkeypatch.setattr(checkout.importlib.util, "find_spec", lambda name: None if name == "pytest" else original(name))
    done = CliRunner().invoke(app, [command])
    assert isinstance(done.exception, StartRefused)
    assert lacks in str(done.exception)
    assert f"./meshgrade {command}" in done.exception.remedy
