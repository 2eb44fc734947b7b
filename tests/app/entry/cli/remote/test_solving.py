"""A student solves a problem at a terminal, against a real server: list, pull, run, submit."""

import json

import httpx
import pytest

from app.entry.cli.remote import submission_sender
from app.entry.cli.remote.attempt_follower import follow
from app.entry.cli.remote.responses import Attempt
from grader.checks.grading_table import grading_of
from tests.app.entry.cli.remote.conftest import TOKEN
from tests.app.entry.cli.test_serve import serving


def test_problems_are_listed_for_everybody(meshgrade, live):
    done = meshgrade("problems", "--server", live)
    assert (done.code, done.err) == (0, "")
    assert "fsdp_step" in done.out


def test_submitting_gives_the_verdict_and_then_the_best_score(meshgrade, logged_in, fsdp_step, tmp_path):
    file = tmp_path / "fsdp_step.py"
    file.write_text(fsdp_step.reference)
    done = meshgrade("submit", file)
    assert (done.code, done.err) == (0, "")
    assert "accepted" in done.out
    assert "100 of 100 points" in done.out
    best = {each["slug"]: each["best_score"] for each in json.loads(meshgrade("problems", "--json").out)}
    assert best["fsdp_step"] == 100
    assert best["dp_step"] is None
    assert "100" in meshgrade("problems").out


def test_a_rejected_one_exits_with_1_and_as_json_is_the_attempt(meshgrade, logged_in, tmp_path):
    (tmp_path / "solution.py").write_text("x = 1\n")
    done = meshgrade("submit", tmp_path / "solution.py", "--problem", "fsdp_step", "--json")
    assert (done.code, done.err) == (1, "")
    attempt = json.loads(done.out)
    assert (attempt["status"], attempt["kind"], attempt["verdict"]["status"]) == ("finished", "attempt", "rejected")


def test_the_pitfall_of_a_verdict_is_printed(meshgrade, logged_in, tmp_path, monkeypatch):
    def met(*args, **options):
        found = follow(*args, **options)
        return Attempt.model_validate(found.model_dump() | {"pitfall": {"number": 1, "text": "**Add** once."}})

    monkeypatch.setattr(submission_sender, "follow", met)
    (tmp_path / "solution.py").write_text("x = 1\n")
    done = meshgrade("submit", tmp_path / "solution.py", "--problem", "fsdp_step")
    assert "From the pitfalls of this problem" in done.out
    assert "**Add** once." in done.out
    as_data = json.loads(meshgrade("submit", tmp_path / "solution.py", "--problem", "fsdp_step", "--json").out)
    assert as_data["pitfall"] == {"number": 1, "text": "**Add** once."}


def test_a_run_reads_standard_input_and_is_not_scored(meshgrade, logged_in, fsdp_step):
    done = meshgrade("run", "-", "--problem", "fsdp_step", "--json", stdin=fsdp_step.reference.encode())
    assert done.code == 0
    assert (json.loads(done.out)["kind"], json.loads(done.out)["score"]) == ("run", None)


def test_a_run_on_inputs_of_ones_own(meshgrade, logged_in, tmp_path):
    file = tmp_path / "fsdp_step.py"
    file.write_text("x = 1\n")
    done = meshgrade("run", file, "--seed", "7", "--json")
    assert json.loads(done.out)["inputs"] == {"seed": 7, "mesh": None, "values": None}
    assert json.loads(meshgrade("run", file, "--json").out)["inputs"] is None
    chosen = meshgrade("run", file, "--problem", "dp_step", "--seed", "7", "--mesh", "data=8", "--json")
    assert json.loads(chosen.out)["inputs"] == {"seed": 7, "mesh": "data=8", "values": None}
    typed = meshgrade("run", file, "--seed", "7", "--value", "lr=0.5", "--json")
    assert json.loads(typed.out)["inputs"] == {"seed": 7, "mesh": None, "values": {"lr": 0.5}}
    refused = meshgrade("run", file, "--problem", "dp_step", "--seed", "7", "--mesh", "data=3")
    assert refused.code == 2
    assert "data=8" in refused.err
    assert "--mesh needs --seed" in meshgrade("run", file, "--mesh", "data=8").err


def test_pulling_writes_statement_and_starter_and_never_over_them(meshgrade, live, fsdp_step, tmp_path):
    assert meshgrade("pull", "fsdp_step", "--server", live).code == 0
    starter = tmp_path / "work" / "fsdp_step" / "fsdp_step.py"
    assert starter.read_text() == fsdp_step.starter
    statement, _, grading = starter.with_name("statement.md").read_text().partition("\n## Grading\n")
    assert statement == fsdp_step.statement
    for check in grading_of(fsdp_step.manifest):
        assert f"| {check.title} | {check.points} | {'; '.join(check.sentences)} |" in grading
        assert all(f"- {bound}\n" in grading for bound in check.bounds)
    starter.write_text("my work")
    done = meshgrade("pull", "fsdp_step", "--server", live)
    assert done.code == 2
    assert "--force" in done.err
    assert starter.read_text() == "my work"
    assert meshgrade("pull", "fsdp_step", "--server", live, "--force").code == 0
    assert starter.read_text() == fsdp_step.starter


def test_pulling_into_what_is_no_folder_is_refused(meshgrade, live, tmp_path):
    (tmp_path / "file").write_text("")
    done = meshgrade("pull", "fsdp_step", tmp_path / "file", "--server", live)
    assert done.code == 2
    assert "cannot be written" in done.err


@pytest.mark.parametrize("slug", ["fsdp_stop", "fsdp-step", "FSDP_STEP"])
def test_another_slug_is_refused_with_the_one_that_was_meant(meshgrade, logged_in, slug, tmp_path):
    done = meshgrade("pull", slug)
    assert done.code == 2
    assert "Did you mean 'fsdp_step'?" in done.err
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("slug", ["../../etc", "..", "%2e%2e", "a/b", "\x1b[31mred"])
def test_a_slug_is_part_of_a_path_and_nothing_more(meshgrade, live, slug, tmp_path):
    done = meshgrade("pull", slug, "--server", live)
    assert done.code in (2, 3)
    assert "\x1b" not in done.err
    assert list((tmp_path / "work").iterdir()) == []


def test_a_file_name_that_is_no_slug_needs_the_option(meshgrade, logged_in, tmp_path):
    for name in ("Solution 2.py", "-"):
        done = meshgrade("submit", name)
        assert done.code == 2
        assert "--problem" in done.err


def test_what_is_no_file_of_text_is_refused_by_name(meshgrade, logged_in, tmp_path):
    (tmp_path / "latin.py").write_bytes(b"# gr\xfc\xdfe\n")
    (tmp_path / "empty.py").write_text(" \n")
    (tmp_path / "long.py").write_text("#" * 70_000)
    for name, said in (
        ("missing.py", "missing.py cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
        ("latin.py", "not UTF-8: byte 0xfc on line 1"),
        ("empty.py", "only whitespace"),
        ("long.py", "The limit is 65536"),
    ):
        done = meshgrade("submit", tmp_path / name, "--problem", "fsdp_step")
        assert done.code == 2, done
        assert said in done.err
        assert "Traceback" not in done.err


def test_nobody_is_asked_to_log_in(meshgrade, live, tmp_path):
    (tmp_path / "fsdp_step.py").write_text("x = 1\n")
    done = meshgrade("submit", tmp_path / "fsdp_step.py", "--server", live)
    assert done.code == 2
    assert f"./meshgrade login {live}" in done.err


def test_a_server_that_is_down_is_no_fault_of_the_file(meshgrade, monkeypatch, tmp_path):
    (tmp_path / "fsdp_step.py").write_text("x = 1\n")
    monkeypatch.setenv("MESHGRADE_TOKEN", TOKEN)
    done = meshgrade("submit", tmp_path / "fsdp_step.py", "--server", "http://127.0.0.1:9")
    assert done.code == 3
    assert "http://127.0.0.1:9 cannot be reached" in done.err
    assert TOKEN not in done.err


def test_a_server_that_speaks_no_tls_is_told_of(meshgrade, live):
    done = meshgrade("problems", "--server", live.replace("http:", "https:"))
    assert done.code == 3
    assert "A secure connection" in done.err


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_are_told_of(meshgrade, monkeypatch, tmp_path, content):
    if content:
        (tmp_path / "own.pem").write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    done = meshgrade("problems", "--server", "https://127.0.0.1:9")
    assert done.code == 2
    assert "SSL_CERT_FILE" in done.err


def test_ctrl_c_cancels_the_attempt(meshgrade, monkeypatch, tmp_path):
    def interrupted(server, attempt, tell):
        raise KeyboardInterrupt

    monkeypatch.setattr("app.entry.cli.remote.submission_sender.follow", interrupted)
    monkeypatch.setenv("MESHGRADE_TOKEN", TOKEN)
    (tmp_path / "fsdp_step.py").write_text("x = 1\n")
    with serving(tmp_path / "data", STUCK="1", MESHGRADE_OWNER_TOKEN=TOKEN) as (_, address, _):
        done = meshgrade("submit", tmp_path / "fsdp_step.py", "--server", address)
        assert (done.code, done.out, done.err) == (130, "", "Cancelled.\n")
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        [attempt] = httpx.get(f"{address}/api/v1/attempts", headers=bearer, timeout=60).json()["attempts"]
        assert attempt["status"] == "cancelled"
