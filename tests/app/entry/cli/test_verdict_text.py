"""A verdict in a terminal: it may come from a server that nobody knows, about a submission that nobody trusts."""

import pytest

from app.entry.cli.verdict_text import print_verdict
from app.grading.queue.null_grader import NullGrader
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import CaseResult, CheckResult

EVIL = "\x1b]0;title\x07\x1b[2J[bold red]markup[/] \u202e\x9b1m"


@pytest.fixture
def shown(package, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def show(title="Add one", pitfall=None, is_starter=False, **changes) -> str:
        verdict = NullGrader().judge(package, "x").model_copy(update=changes)
        print_verdict(title, verdict, pitfall, is_starter=is_starter)
        return capsys.readouterr().out

    return show


def test_a_verdict_says_what_was_not_right(shown):
    text = shown()
    assert "rejected (wrong value)" in text
    assert "0 of 100 points" in text
    assert "not passed" in text
    assert "public-1" in text


def test_an_unchanged_starter_is_told_so_without_points(shown):
    text = shown(is_starter=True, score=40)
    assert text.startswith("nothing written yet  Add one\n")
    assert "unchanged starter" in text
    assert not {"rejected", "40", "passed"} & {*text.replace(".", " ").split()}
    assert "accepted" in shown(is_starter=True, status="accepted", reason=None, score=100)


def test_no_text_of_a_verdict_acts_on_the_terminal(shown):
    check = CheckResult(id=EVIL, title=EVIL, passed=False, points=0, max_points=1, trust="observed", message=EVIL)
    case = CaseResult(id=EVIL, public=True, passed=False, message=EVIL)
    texts = dict.fromkeys(("version", "misconception", "stdout", "stderr"), EVIL)
    text = shown(EVIL, EVIL, checks=[check], cases=[case], walls=[EVIL], **texts)
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)
    assert text.replace("\n", " ").count("[bold red]markup[/]") >= 8


def test_a_pitfall_follows_the_misconception_that_it_explains(shown):
    text = shown(misconception="Takes one away.", pitfall="**Subtracting.** Add one.")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    place = lines.index("Possible misconception")
    assert lines[place : place + 4] == [
        "Possible misconception",
        "Takes one away.",
        "From the pitfalls of this problem",
        "**Subtracting.** Add one.",
    ]
    assert "pitfalls" not in shown(misconception="Takes one away.")


def test_each_check_shows_what_it_measured_and_its_bound(shown):
    row = Amount(name="temporaries", mine=4096, reference=1024, whole=None, at_most=2048)
    amounts = Amounts(mesh={"x": 8}, title="Bytes", unit="bytes", whole_title="", rows=[row])
    check = CheckResult(
        id="memory",
        title="Memory",
        passed=False,
        points=0,
        max_points=20,
        trust="verified",
        message="Too much.",
        evidence=[amounts],
    )
    lines = [line.strip() for line in shown(checks=[check]).splitlines()]
    assert "x = 8  temporaries: 4.0 KiB, at most 2.0 KiB, reference 1.0 KiB" in lines
