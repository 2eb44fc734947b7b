"""Check a package's promises: each of its submissions must get the verdict that its path names."""

import ast
from dataclasses import dataclass

from grader.core.reasons import Reason
from grader.package.fault import PackageFault
from grader.package.package import AnswerManifest, Package
from grader.review.helper_files import FOLDER
from grader.review.solution import solution_of
from grader.verdicts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Expectation:
    """The verdict that one submission of a package must get. `reason` is None if any reason is right."""

    file: str
    source: str
    accepted: bool
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class ValidationStep:
    """The result for one file of a package. If it did not pass, `message` says what to do."""

    file: str
    passed: bool
    message: str


def expectations(package: Package) -> list[Expectation]:
    """What each submission must get: the reference and `accepted` are accepted, the starter and `rejected` rejected.

    There are none in answer mode: preparing it already answers every question, also with every known wrong formula.
    """
    if isinstance(package.manifest, AnswerManifest):
        return []
    return [
        Expectation("reference.py", package.reference, True),
        Expectation("starter.py", package.starter, False),
        *(Expectation(f"submissions/accepted/{each.name}.py", each.source, True) for each in package.accepted),
        *(
            Expectation(f"submissions/rejected/{each.name}.py", each.source, False, each.reason)
            for each in package.rejected
        ),
    ]


def weigh(expected: Expectation, verdict: Verdict) -> ValidationStep:
    """Compare a submission's verdict with the expected one."""
    got = verdict.status if verdict.reason is None else f"{verdict.status} ({verdict.reason})"
    wanted = "accepted" if expected.accepted else f"rejected ({expected.reason})" if expected.reason else "rejected"
    if verdict.status == "failed":
        return ValidationStep(expected.file, False, "The grader failed on it, so nothing is proved. Validate again.")
    passed = (verdict.status == "accepted") == expected.accepted and expected.reason in (None, verdict.reason)
    if passed:
        return ValidationStep(expected.file, True, f"It is {got}, as expected.")
    missed = next((f" {each.title}: {each.message}" for each in verdict.checks if not each.passed), "")
    return ValidationStep(expected.file, False, f"It must be {wanted}, but it is {got}.{missed}")


def leaks(package: Package) -> list[PackageFault]:
    """Find public texts that contain a secret: the solution, the hidden inputs, or the editorial.

    This finds secrets that are copied word for word, apart from white space, but no paraphrases.
    """
    public = {
        "statement.md": package.statement,
        "hints.md": "\n".join(package.hints),
        "starter.py": package.starter,
        "question.md": package.files.get("question.md", ""),
        **{f"figures/{name}": text for name, text in package.figures.items()},
        **{f"{FOLDER}{name}.py": text for name, text in package.helpers.items()},
    }
    return [
        PackageFault("leak", name, None, f"{name} contains {what}")
        for name, text in public.items()
        for what, secret in _secrets(package)
        if _squeezed(secret) in _squeezed(text)
    ]


def _secrets(package: Package) -> list[tuple[str, str]]:
    if isinstance(package.manifest, AnswerManifest):
        files = package.files
        found = [("the function truth of questions.py", _function(files["questions.py"], "truth"))]
        found += [(f"all of {name}", files[name]) for name in ("editorial.md", "explanation.md")]
        return [(what, text) for what, text in found if text]
    solution = solution_of(package)
    answers = [("reference.py", package.reference)]
    answers += [(f"submissions/accepted/{each.name}.py", each.source) for each in package.accepted]
    found = [(f"the function {solution} of {file}", _function(source, solution)) for file, source in answers]
    found.append(("the function hidden_cases of cases.py", _function(package.cases, "hidden_cases")))
    found.append(("all of editorial.md", package.editorial))
    return [(what, text) for what, text in found if text]


def _function(source: str, name: str) -> str:
    """The text of a top-level function; empty if there is none, or if the file is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    return ast.get_source_segment(source, functions[-1]) or "" if functions else ""


def _squeezed(text: str) -> str:
    return "".join(text.split())
