"""`meshgrade judge`: grades a file on this machine, without a server."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.submission_arguments import package_of, source_limit, source_of
from grader.core.errors import Cancelled, WallMissing

if TYPE_CHECKING:
    from grader.answers.question_variants import Variants
    from grader.package.package import Package
    from grader.verdicts.verdict import Verdict

_EXIT = {"accepted": 0, "rejected": 1, "failed": 3}
HELP = "Grade FILE on this machine, without a server. Exit status: 0 accepted, 1 rejected, 3 failed, 2 wrong usage."


def judge(
    problem: Annotated[str, typer.Argument(metavar="SLUG_OR_PATH", help="A problem's slug, or a package's folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
    variant: Annotated[
        str | None, typer.Option(help="The variant to grade, of a problem that has some. Default: its first one.")
    ] = None,
) -> None:
    package, source = _of_variant(package_of(problem), variant), source_of(file, source_limit())
    try:
        verdict = _judge(package, source)
    except WallMissing as missing:
        if as_json:
            print(json.dumps({"error": str(missing), "wall": missing.wall, "remedy": missing.remedy}))
        print(f"Error: refusing to grade: {missing}", file=sys.stderr)
        raise typer.Exit(_EXIT["failed"]) from None
    except Cancelled:
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(verdict.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        from app.entry.cli.verdict_text import print_verdict
        from grader.package.pitfalls import pitfall_of

        met = pitfall_of(package, verdict.misconception) if verdict.misconception else None
        is_starter = source.split() == package.starter.split()
        print_verdict(package.manifest.title, verdict, met.text if met else None, is_starter=is_starter)
    raise typer.Exit(_EXIT[verdict.status])


def _of_variant(package: "Package", name: str | None) -> "Package":
    from grader.package.variants import VariantMissing, of_variant

    try:
        return of_variant(package, name) if name is not None else package
    except VariantMissing as missing:
        raise StartRefused(f"{missing}.", "Name one of its variants, or leave --variant out.") from None


def _judge(package: "Package", source: str) -> "Verdict":
    from app.entry.cli.local_judge import local_judge
    from grader.package.package import AnswerManifest

    with local_judge() as (judge, context):
        if isinstance(package.manifest, AnswerManifest):
            _print_question(package, source, judge.variants(package, context))
        return judge.judge(package, source, context)


def _print_question(package: "Package", source: str, questions: "Variants | None") -> None:
    """Print the question that the file answers to standard error, because its numbers mean nothing without it."""
    from grader.answers.question_variants import AnswerSheet
    from grader.core.template import fill

    try:
        number = AnswerSheet.read(source).variant
    except ValueError:
        number = 1
    for each in questions.variants if questions else ():
        if each.number == number:
            question = fill(package.files["question.md"], each.parameters).strip()
            print(f"Question {number} of {package.manifest.title}:\n\n{question}\n", file=sys.stderr)
