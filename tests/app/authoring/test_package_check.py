"""What the judge finds in a package, by rule. A fake judge gives each submission the verdict that a test wants."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app.authoring.package_check import FaultStore, JudgeReport, judge_mutants, judge_package
from app.core.bounded_calls import LimitExceeded
from grader.core.context import QUIET
from grader.core.errors import GraderFault
from grader.package.fault import PackageFault
from grader.review.mutants import mutants_of
from grader.review.reader import measured, read_package, with_budget
from grader.review.rules import RULES
from grader.review.validation import expectations
from grader.verdicts.package_study import PackageStudy, ProgramTraffic, Traffic
from grader.verdicts.verdict import CaseResult, CheckResult, Verdict

SHIPPED = Path(__file__).parents[3] / "problems"
PACKAGE = read_package(Path(__file__).parents[2] / "grader" / "packages" / "add_one")
LITERAL = "submissions/accepted/literal.py"
DOUBLED = "submissions/rejected/wrong_value/doubled.py"


def verdict(status, reason=None, *, passed=True):
    check = CheckResult(
        id="values", title="Values", passed=passed, points=0, max_points=100, trust="verified", message="Off by one."
    )
    case = CaseResult(id="public-1", public=True, passed=passed, message="Off by one.")
    return Verdict(
        problem="add_one", version="v", status=status, reason=reason, score=0, checks=[check], cases=[case], walls=[]
    )


ACCEPTED, WRONG = verdict("accepted"), verdict("rejected", "wrong_value", passed=False)
ERROR = verdict("rejected", "error", passed=False)


class FakeJudge:
    """Gives each source its verdict; a list is given one at a time."""

    def __init__(self, *, cases_fault=None, **verdicts):
        self._fault = cases_fault
        self._verdicts = {
            PACKAGE.reference: ACCEPTED,
            PACKAGE.starter: ERROR,
            **{each.source: ACCEPTED for each in PACKAGE.accepted},
            **{each.source: WRONG for each in PACKAGE.rejected},
            **verdicts,
        }
        self.calls = 0

    def prepare(self, package, context, *, background=False):
        if self._fault:
            raise GraderFault(self._fault)

    def judge(self, package, source, context, **_):
        self.calls += 1
        found = self._verdicts[source]
        return found.pop(0) if isinstance(found, list) else found


def judged(grader, package=PACKAGE):
    said = []
    with ThreadPoolExecutor(2) as executor:
        return judge_package(package, grader, QUIET, executor, said.append), said


def source_of(file):
    return PACKAGE.files[file]


class MeasuringJudge:
    """Accepts what it must, and says how much each accepted submission of a program problem sends."""

    def __init__(self, package, sent):
        self._accepted = {each.source for each in expectations(package) if each.accepted}
        self._sent = {package.files[file]: size for file, size in sent.items()}
        self.versions = {}

    def prepare(self, package, context, *, background=False):
        """Do nothing: only verdicts matter here."""

    def judge(self, package, source, context, *, watch):
        right = source in self._accepted
        self.versions[source] = package.version
        if right:
            reference = Traffic(100, 100)
            mine = Traffic(self._sent.get(source, 100), 100)
            watch(PackageStudy({}, (), (ProgramTraffic("fsdp=8", ("public-1",), mine, reference),)))
        return ACCEPTED if right else WRONG


def test_wrong_submissions_are_judged_by_what_right_ones_send():
    package = replace(read_package(SHIPPED / "psum_by_hand"), budget=None)
    style = f"submissions/accepted/{package.accepted[-1].name}.py"
    grader = MeasuringJudge(package, {style: 150})
    found, _ = judged(grader, package)
    (only,) = found.budget.programs
    assert (only.sent.reference, only.sent.least, only.sent.most) == (100, 100, 150)
    assert only.sent.style == style.removeprefix("submissions/").removesuffix(".py")
    assert found.budget.of == measured(package)
    versions = {expected.accepted: grader.versions[expected.source] for expected in expectations(package)}
    assert versions == {True: package.version, False: with_budget(package, found.budget).version}


def test_nothing_is_measured_if_no_check_is_about_communication():
    package = read_package(SHIPPED / "scan_over_layers")
    found, _ = judged(MeasuringJudge(package, {}), package)
    assert found.budget is None


def test_a_package_that_holds_what_it_promises():
    found, said = judged(FakeJudge())
    # A fake judge gives no fingerprint.
    fingerprints = {each.name: None for each in PACKAGE.rejected}
    assert found == JudgeReport((), 5, complete=True, fingerprints=fingerprints)
    assert sorted(said) == sorted(
        ["cases.py", "reference.py", "starter.py", *(name for name in PACKAGE.files if name.startswith("submissions/"))]
    )


@pytest.mark.parametrize(
    ("file", "gets", "rule", "words"),
    [
        ("reference.py", ERROR, "reference", "It must be accepted, but it is rejected (error). Values: Off by one."),
        ("starter.py", ACCEPTED, "starter", "It must be rejected, but it is accepted."),
        (LITERAL, WRONG, "accepted", "It must be accepted, but it is rejected (wrong_value)."),
        (DOUBLED, ERROR, "rejected", "It must be rejected (wrong_value), but it is rejected (error)."),
        (DOUBLED, verdict("rejected", "wrong_value"), "uncaught", "no case says why"),
        (LITERAL, verdict("failed"), "grader", "nothing is proved"),
    ],
)
def test_another_verdict(file, gets, rule, words):
    found, _ = judged(FakeJudge(**{source_of(file): gets}))
    assert [(each.rule, each.file) for each in found.faults] == [(rule, file)]
    assert words in found.faults[0].message
    assert found.complete == (rule != "grader")


def test_a_grader_that_failed_once_is_asked_again():
    grader = FakeJudge(**{source_of(LITERAL): [verdict("failed"), ACCEPTED]})
    found, _ = judged(grader)
    assert found.faults == ()
    assert grader.calls == 6


def test_cases_that_cannot_be_made_end_the_check():
    grader = FakeJudge(cases_fault="cases.py: line 3: NameError")
    found, _ = judged(grader)
    assert [(each.rule, each.file) for each in found.faults] == [("cases", "cases.py")]
    assert "NameError" in found.faults[0].message
    assert grader.calls == 0


def test_a_text_that_cannot_be_shown(monkeypatch):
    def fail(_, texts, cpu_s):
        if "editorial" in texts:
            raise LimitExceeded(f"takes over {cpu_s} s of CPU time")

    monkeypatch.setattr("app.authoring.validator.bounded_in_thread", fail)
    found, _ = judged(FakeJudge())
    assert [(each.rule, each.file) for each in found.faults] == [("page", "editorial.md")]
    assert "editorial.md takes over 5 s of CPU time when it is shown as a page" in found.faults[0].message


def test_a_check_that_no_rejected_submission_fails():
    crashes = replace(PACKAGE, rejected=tuple(replace(each, reason="error") for each in PACKAGE.rejected))
    grader = FakeJudge(**{each.source: ERROR for each in PACKAGE.rejected})
    found, _ = judged(grader, crashes)
    assert [(each.rule, each.file, each.level) for each in found.faults] == [
        ("untested-check", "problem.toml", "warning")
    ]


def mutated(grader, at_most=10):
    said = []
    with ThreadPoolExecutor(2) as executor:
        return judge_mutants(PACKAGE, at_most, grader, QUIET, executor, said.append), said


def test_a_mutant_that_is_accepted_survives():
    minus, nothing = mutants_of(PACKAGE.reference, 10)
    found, said = mutated(FakeJudge(**{minus.source: ACCEPTED, nothing.source: WRONG}))
    assert [(each.rule, each.file, each.line, each.level) for each in found.faults] == [
        ("surviving-mutant", "reference.py", 2, "warning")
    ]
    assert found.faults[0].message == (
        "`x + 1` became `x - 1`. Add a case in which both operands differ from 0 and from each other."
    )
    assert (found.submissions, found.complete) == (2, True)
    assert sorted(said) == ["mutant 1 of 2", "mutant 2 of 2"]


def test_a_grader_that_fails_on_a_mutant_is_named():
    sources = [each.source for each in mutants_of(PACKAGE.reference, 10)]
    found, _ = mutated(FakeJudge(**dict.fromkeys(sources, verdict("failed"))))
    assert [each.rule for each in found.faults] == ["grader"]
    assert "The grader failed on 2 of 2 mutants." in found.faults[0].message
    assert not found.complete


def test_what_was_found_is_kept_for_the_same_package_and_environment(tmp_path):
    kept = FaultStore(tmp_path / "checks", "jax 1")
    assert kept.get(PACKAGE) is None
    found = JudgeReport((PackageFault("starter", "starter.py", None, "It is accepted."),), 5, complete=True)
    kept.put(PACKAGE, found)
    assert kept.get(PACKAGE) == found
    assert FaultStore(tmp_path / "checks", "jax 2").get(PACKAGE) is None
    assert kept.get(replace(PACKAGE, version="0" * 64)) is None


def test_what_a_grader_that_failed_says_is_not_kept(tmp_path):
    kept = FaultStore(tmp_path, "jax 1")
    kept.put(PACKAGE, JudgeReport((PackageFault("grader", LITERAL, None, "It failed."),), 5, complete=False))
    assert kept.get(PACKAGE) is None


@pytest.mark.parametrize("text", ["", "[]", '{"environment": "jax 1"}', '{"environment": "jax 1", "faults": [{}]}'])
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path, text):
    (tmp_path / f"add_one.{PACKAGE.version}.json").write_text(text)
    assert FaultStore(tmp_path, "jax 1").get(PACKAGE) is None


def test_the_rules_that_only_a_judge_can_apply_are_broken_here():
    broken = {"page", "cases", "reference", "starter", "accepted", "rejected", "uncaught", "untested-check", "grader"}
    assert broken <= RULES.keys()
