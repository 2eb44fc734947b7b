"""A mode needs only the seam of the judge, and not even a sandbox."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.checks.finding import Finding
from grader.core.case import Case
from grader.core.context import Context
from grader.core.errors import GraderFault, LostRunner
from grader.judging.judge import Judge
from grader.modes import Modes
from grader.modes.mode import GradingRequest, Mode
from grader.modes.report import NO_OUTPUT
from grader.package.package import Package
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Word:
    """The expected word, as text."""

    word: str
    cases: tuple[Case, ...] = ()


@dataclass
class WordGrading:
    word: Word
    request: GradingRequest
    runners_lost: list[str]

    def grade(self) -> Verdict:
        if self.runners_lost:
            raise LostRunner(self.runners_lost.pop())
        if self.request.source == self.word.word:
            return self.request.report.verdict({"values": Finding(True, "That is the word.")}, [], NO_OUTPUT)
        mine = Fingerprint(results={"public-1": {"": self.request.source}})
        told = self.request.known.explain(
            mine, "wrong_value", lambda known: "grid" in mine.results["public-1"][""], has_more=False
        )
        found = {"values": Finding(False, "That is another word.", "wrong_value")}
        return self.request.report.verdict(found, [], NO_OUTPUT, misconception=told)


class WordMode(Mode[Word]):
    """The submission is compared with a word as text; nothing of it runs."""

    def __init__(self) -> None:
        self.prepared: list[str] = []
        self.runners_lost: list[str] = []

    def warm(self) -> None:
        pass

    def prepare(self, sandbox: Any, key: str, context: Context) -> Word:
        context.progress("choosing a word")
        self.prepared.append(key)
        return Word("mesh")

    def store(self, folder: Path, prepared: Word) -> None:
        folder.mkdir(parents=True)
        (folder / "word").write_text(prepared.word)

    def load(self, folder: Path) -> Word | None:
        return Word((folder / "word").read_text()) if (folder / "word").exists() else None

    def begin(self, prepared: Word, request: GradingRequest) -> WordGrading:
        return WordGrading(prepared, request, self.runners_lost)


@pytest.fixture
def mode(monkeypatch: pytest.MonkeyPatch) -> WordMode:
    mode = WordMode()
    monkeypatch.setattr(Modes, "of", lambda self, package: mode)
    return mode


@pytest.fixture
def make(tmp_path: Path):
    def refuse(message: dict[str, Any], values: object) -> Any:
        raise AssertionError("the sandbox was asked")

    return lambda: Judge(NullSandbox(refuse), b"s", tmp_path)


def test_a_mode_without_a_sandbox_is_judged(make, mode: WordMode, add_one: Package) -> None:
    assert make().judge(add_one, "mesh").score == 100
    verdict = make().judge(add_one, "axis")
    assert (verdict.status, verdict.reason, verdict.misconception) == ("rejected", "wrong_value", None)


def test_what_it_prepared_is_kept_and_made_once(make, mode: WordMode, add_one: Package) -> None:
    phases: list[str] = []
    make().prepare(add_one, Context(phases.append))
    make().judge(add_one, "mesh", Context(phases.append))
    assert len(mode.prepared) == 1
    assert phases == ["choosing a word", "starting"]


def test_its_known_wrong_submissions_explain_others(make, mode: WordMode, add_one: Package) -> None:
    told = make().judge(add_one, "grid").misconception
    assert told in {each.misunderstanding for each in add_one.rejected}


def test_a_grading_whose_runner_is_lost_is_begun_again(make, mode: WordMode, add_one: Package) -> None:
    mode.runners_lost += ["once", "twice"]
    assert make().judge(add_one, "mesh").status == "accepted"
    mode.runners_lost += ["once", "twice", "three times"]
    assert make().judge(add_one, "mesh").status == "failed"


def test_it_compiles_nothing_that_could_be_shown(make, mode: WordMode, add_one: Package) -> None:
    with pytest.raises(GraderFault, match="has no compiled program"):
        make().inspect(add_one, "mesh")
