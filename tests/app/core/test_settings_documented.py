"""docs/settings.md lists every setting, and only those; wrong values are refused with a message."""

import re
from pathlib import Path

import pytest

from app.core.settings import Settings, load_server_settings, load_settings
from app.core.start_errors import SettingInvalid

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "settings.md").read_text()


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


def test_everything_that_is_wrong_is_named_at_once_with_a_suggestion(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.touch()
    for name, value in (
        ("GRADING_SLOT", "4"),
        ("PROBLEMS", "/nonexistent"),
        ("LESSONS", str(file)),
        ("SYNC_FOLDERS", f"{tmp_path}:/no-such-folder"),
        ("PORT", "x"),
        ("SECRETS", "not-printed"),
        ("EMPTY", ""),
    ):
        monkeypatch.setenv(f"MESHGRADE_{name}", value)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.1")
    with pytest.raises(SettingInvalid) as refused:
        load_server_settings()
    message = str(refused.value)
    for words in (
        "MESHGRADE_GRADING_SLOT' cannot be used: there is no such setting. Did you mean MESHGRADE_GRADING_SLOTS?",
        "'problems' cannot be used: /nonexistent does not exist.",
        f"'lessons' cannot be used: {file} is not a folder.",
        "'sync_folders' cannot be used: /no-such-folder does not exist.",
        "'port' cannot be used",
        "MESHGRADE_SECRETS' cannot be used: there is no such setting.",
        "Name your proxies in MESHGRADE_PROXIES.",
    ):
        assert words in message
    assert message.count("cannot be used") == 7
    assert "not-printed" not in message
    assert "MESHGRADE_GRADING_SLOT, " in refused.value.remedy


def test_a_command_that_reads_no_folder_needs_none(monkeypatch):
    monkeypatch.setenv("MESHGRADE_PROBLEMS", "/nonexistent")
    load_settings()
    with pytest.raises(SettingInvalid):
        load_server_settings()


@pytest.mark.parametrize(
    "name", ["TOKEN", "SERVER", "INSECURE", "TEST_PART", "SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8000_TCP_ADDR"]
)
def test_variables_of_others_are_no_misspelt_settings(monkeypatch, name):
    monkeypatch.setenv(f"MESHGRADE_{name}", "x")
    load_server_settings()


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
