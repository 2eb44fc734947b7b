"""Hints, giving up and the editorial at a terminal, against a real server."""

import pytest

from app.entry.cli.remote.responses import Editorial, Hints


def test_hints_are_printed_one_at_a_time_to_anybody(meshgrade, live, fsdp_step):
    total = len(fsdp_step.hints)
    done = meshgrade("hint", "fsdp_step", "--server", live)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Hint 1 of {total}\n\n{fsdp_step.hints[0].strip()}")
    assert done.out.endswith("The next one: ./meshgrade hint fsdp_step 2\n")
    assert fsdp_step.hints[1].strip() not in done.out
    assert "next one" not in meshgrade("hint", "fsdp_step", total, "--server", live).out
    done = meshgrade("hint", "fsdp_step", total + 1, "--server", live)
    assert done.code == 2
    assert f"Name a number from 1 to {total}." in done.err
    assert meshgrade("hint", "fsdp_step", 0, "--server", live).code == 2


def test_nobody_is_asked_without_a_terminal(meshgrade, logged_in):
    done = meshgrade("editorial", "dp_step")
    assert done.code == 2
    assert "./meshgrade give-up dp_step" in done.err
    done = meshgrade("give-up", "dp_step")
    assert done.code == 2
    assert "add --yes" in done.err


# One problem each, because they share an account and run in any order.
@pytest.mark.parametrize(("slug", "answer", "code"), [("tp_column_row", False, 1), ("hsdp_step", True, 0)])
def test_the_question_says_what_it_means(meshgrade, logged_in, monkeypatch, slug, answer, code):
    monkeypatch.setattr("app.entry.cli.give_up._at_a_terminal", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text: answer)
    done = meshgrade("give-up", slug)
    assert done.code == code
    assert "graded, but does not count. You cannot undo it." in done.out
    assert (f"You gave up on {slug}." in done.out) is answer
    assert (meshgrade("editorial", slug).code == 0) is answer
    if answer:
        assert "## " in meshgrade("editorial", slug).out


def test_yes_asks_nothing(meshgrade, logged_in):
    done = meshgrade("give-up", "dp_shard_map", "--yes")
    assert (done.code, done.out.count("\n")) == (0, 1)
    done = meshgrade("give-up", "dp_shard_mop", "--yes")
    assert done.code == 2
    assert "Did you mean 'dp_shard_map'?" in done.err


def test_a_text_controls_no_terminal(meshgrade, live, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TOKEN", "x")
    text = "a\x1b[31mred\x1b]0;title\x07\u202eb"
    monkeypatch.setattr(
        "app.entry.cli.remote.server.Server.hints", lambda self, slug: Hints(problem="x_y", hints=[text])
    )
    monkeypatch.setattr("app.entry.cli.remote.server.Server.editorial", lambda self, slug: Editorial(editorial=text))
    for command in ("hint", "editorial"):
        done = meshgrade(command, "x_y", "--server", live)
        assert done.code == 0
        assert "ared⟨U+202E⟩b" in done.out


def test_nobody_gives_up_without_logging_in(meshgrade, live):
    for command in ("editorial", "give-up"):
        done = meshgrade(command, "fsdp_step", "--server", live)
        assert done.code == 2
        assert f"./meshgrade login {live}" in done.err
