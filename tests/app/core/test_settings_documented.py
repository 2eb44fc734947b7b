"""docs/settings.md lists every setting, and only those; wrong values are refused with a message."""

import re
from pathlib import Path

import pytest

from app.core.settings import Settings, load_server_settings, load_settings
from app.core.start_errors import SettingInvalid
from tests.faults import for_each

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "settings.md").read_text()


def test_every_setting_has_its_heading_and_no_heading_is_left_over():
    assert re.findall(r"^### `(\w+)`$", TEXT, re.MULTILINE) == list(Settings.model_fields)


@for_each("name", Settings.model_fields)
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
    ):
        assert words in message
    assert message.count("cannot be used") == 6
    assert "not-printed" not in message
    assert "MESHGRADE_GRADING_SLOT, " in refused.value.remedy


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PUBLIC_URL", "grader.example.org", "a complete address that starts with https:// or http://"),
        ("PUBLIC_URL", "https://", "such as https://grader.example.org"),
        ("PUBLIC_URL", "https://grader.example.org:port", "a complete address"),
        ("PUBLIC_URL", "https://example.org/grader", "cannot be served below a path. Give it a host name of its own"),
        ("PUBLIC_URL", "https://example.org?a=b", "cannot be served below a path"),
        ("PUBLIC_URL", "https://me:secret@example.org", "must not contain a user name or a password"),
        ("OIDC_ISSUER", "id.example.org", "such as https://id.example.org/realms/school"),
        ("OIDC_ISSUER", "https://id.example.org/?a=b", "must not contain ? or #"),
        ("WORKER_NAME", "grader 2", "only letters A to Z, digits and . _ : -"),
    ],
)
def test_what_may_be_written_is_said_in_words(name, value, words, monkeypatch):
    monkeypatch.setenv(f"MESHGRADE_{name}", value)
    with pytest.raises(SettingInvalid) as refused:
        load_settings()
    assert words in str(refused.value)
    assert "pattern" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_slash_at_the_end_of_an_address_is_no_path(monkeypatch):
    monkeypatch.setenv("MESHGRADE_PUBLIC_URL", "https://grader.example.org/")
    assert load_settings().public_url == "https://grader.example.org"


def test_a_folder_is_named_by_its_whole_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MESHGRADE_PROBLEMS", "problms")
    with pytest.raises(SettingInvalid, match=f"'problems' cannot be used: {tmp_path}/problms does not exist"):
        load_server_settings()


def test_no_setting_is_refused_by_a_regex_in_its_message():
    for name, field in Settings.model_fields.items():
        assert not [each for each in field.metadata if getattr(each, "pattern", None)], name


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
