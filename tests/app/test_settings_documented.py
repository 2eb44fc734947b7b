"""docs/settings.md lists every setting, and only those; wrong values are refused with a message."""

import re
from pathlib import Path

import pytest

from app.settings import Settings, load_settings
from app.start_errors import SettingInvalid

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "settings.md").read_text()


def test_every_setting_has_its_heading_and_no_heading_is_left_over():
    assert re.findall(r"^### `(\w+)`$", TEXT, re.MULTILINE) == list(Settings.model_fields)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_names_its_variable(name):
    assert f"`MESHGRADE_{name.upper()}`" in TEXT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "65536"),
        ("PORT", "x"),
        ("GRADING_SLOTS", "-1"),
        ("OWNER_TOKEN", "fifteen-letters"),
        ("PUBLIC_URL", "x"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_not_printed(name, value, monkeypatch):
    monkeypatch.setenv(f"MESHGRADE_{name}", value)
    with pytest.raises(SettingInvalid) as refused:
        load_settings()
    assert name.lower() in str(refused.value)
    assert value not in str(refused.value).split() or name == "PORT"
    assert f"MESHGRADE_{name}" in refused.value.remedy


@pytest.mark.parametrize("token", ["with a space in it", "with-ümlaut-in-the-token", "sixteen-and-\n-more"])
def test_a_token_that_no_header_can_carry_is_refused(token):
    with pytest.raises(SettingInvalid):
        load_settings(owner_token=token)


def test_the_command_line_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("MESHGRADE_PORT", "1234")
    assert load_settings(port=None).port == 1234
    assert load_settings(port=4321).port == 4321


def test_an_empty_variable_is_not_set(monkeypatch):
    monkeypatch.setenv("MESHGRADE_OWNER_TOKEN", "")
    assert load_settings().owner_token is None
