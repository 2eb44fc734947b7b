"""`meshgrade problem check`: everything that can be wrong with a package, by rule, file and line."""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.core.start_errors import StartRefused
from grader.core.errors import Cancelled, WallMissing

if TYPE_CHECKING:
    from rich.console import Console

    from app.authoring.package_check import JudgeReport
    from grader.package.fault import PackageFault
    from grader.package.package import Package

HELP = (
    "Check packages: first their files, then, with the judge, that each submission gets its verdict. A second check of "
    "an unchanged package is instant. Exit status: 0 no errors, 1 errors, 2 wrong usage, 3 this machine cannot judge."
)


# How often the reference is judged.
_RUNS, _THOROUGH_RUNS = 3, 20


@dataclass(frozen=True, slots=True)
class _Report:
    """One package. `judged` and `mutants` are None if the judge did not run; `is_kept` if it ran earlier."""

    path: Path
    package: "Package | None"
    faults: "tuple[PackageFault, ...]"
    judged: "JudgeReport | None" = None
    is_kept: bool = False
    mutants: "JudgeReport | None" = None

    def count(self, level: str) -> int:
        return sum(each.level == level for each in self.faults)


@dataclass(frozen=True, slots=True)
class _Request:
    """The options of a judge. `mutants` is the highest number of them."""

    jobs: int
    mutants: int
    is_thorough: bool

    @property
    def runs(self) -> int:
        return _THOROUGH_RUNS if self.is_thorough else _RUNS


def check(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Packages, folders of packages, or slugs of problems.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Only read the files, and run nothing.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Judge everything again, even if it has not changed.")] = False,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants", help="Also judge mutants: the reference with one small mistake each. List the accepted ones."
        ),
    ] = False,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Judge the reference 20 times, and accepted submissions on other inputs too."),
    ] = False,
    at_most: Annotated[int, typer.Option(min=1, max=1000, help="How many mutants of each reference to judge.")] = 40,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=64, help="How many submissions to judge at a time. Default: one per core.")
    ] = None,
) -> None:
    folders = [each for path in paths for each in packages_at(path)]
    reports = [_review(each) for each in dict.fromkeys(folders)]
    for option, is_set in (("--mutants", mutants), ("--thorough", thorough)):
        if no_judge and is_set:
            raise StartRefused(f"{option} needs the judge.", f"Remove one of --no-judge and {option}.")
    if not no_judge:
        request = _Request(jobs or cores(), mutants=at_most if mutants else 0, is_thorough=thorough)
        reports = _with_judge(reports, request, fresh=fresh)
    if as_json:
        print(json.dumps(_as_json(reports), indent=2, ensure_ascii=False))
    else:
        _print(reports)
    raise typer.Exit(1 if any(each.count("error") for each in reports) else 0)


def packages_at(path: str) -> list[Path]:
    """The folders of packages that an argument names. Raises `StartRefused` if there are none."""
    from app.core.settings import load_settings

    folder = Path(path)
    if "/" not in path and not folder.is_dir():
        folder = load_settings().problems / path
    if not folder.is_dir():
        raise StartRefused(
            f"{path} is neither a folder nor the slug of a problem.",
            f"Name the folder of a package, or start one with ./meshgrade problem new {Path(path).name}.",
        )
    folder = folder.resolve()
    if (folder / "problem.toml").is_file():
        return [folder]
    inside = sorted(each.parent for each in folder.glob("*/problem.toml"))
    if not inside:
        raise StartRefused(
            f"{path} contains no problem.toml, and no folder with one.",
            "Name the folder of a package, or a folder of packages such as problems.",
        )
    return inside


def cores() -> int:
    from app.core.settings import load_settings

    return max(1, load_settings().grading_slots)


def _review(folder: Path) -> _Report:
    from app.core.settings import load_settings
    from grader.review.rules import review_package

    found = review_package(folder, load_settings().ceiling, uuids_beside(folder))
    return _Report(folder, found.package, found.faults)


def uuids_beside(folder: Path) -> dict[str, Any]:
    """The uuids of the problems that a package may name, by slug: those beside it, and those that are served."""
    from app.core.settings import load_settings

    return {**_uuids_in(load_settings().problems), **_uuids_in(folder.parent)}


@cache
def _uuids_in(folder: Path) -> dict[str, Any]:
    from grader.review.rules import uuids_in

    return dict(uuids_in(folder))


def _with_judge(reports: Sequence[_Report], request: _Request, *, fresh: bool) -> list[_Report]:
    """Add what the judge finds, or found earlier. A package that cannot be read stays as it is."""
    from app.authoring.package_check import FaultStore
    from app.entry.cli.private_folder import open_private_folder
    from grader.review.reader import with_budget

    folder, found_by = open_private_folder().checks, environment()
    store, mutant_store = (
        FaultStore(folder / "thorough" if request.is_thorough else folder, found_by),
        FaultStore(folder / "mutants", f"{found_by}, at most {request.mutants}"),
    )
    done: dict[Path, _Report] = {}
    for each in reports:
        package = None if fresh else each.package
        judged, of_mutants = (from_.get(package) if package else None for from_ in (store, mutant_store))
        if each.package is None:
            done[each.path] = each
        elif judged is not None and (of_mutants is not None or not request.mutants):
            done[each.path] = _with(each, judged, of_mutants if request.mutants else None, is_kept=True)
    left = [each for each in reports if each.path not in done]
    try:
        for each, judged, of_mutants in _judge(left, request) if left else ():
            assert each.package is not None
            # Stored for the version that has the new budget, which is the one that is checked next.
            package = with_budget(each.package, judged.budget) if judged.budget else each.package
            store.put(package, judged)
            if of_mutants is not None:
                mutant_store.put(package, of_mutants)
            done[each.path] = _with(each, judged, of_mutants)
    except WallMissing as missing:
        print(f"Error: refusing to run a package: {missing}", file=sys.stderr)
        raise typer.Exit(3) from None
    except Cancelled:
        raise typer.Exit(130) from None
    for each in done.values():
        _write_measured(each)
    return [done[each.path] for each in reports]


def _write_measured(report: _Report) -> None:
    """Write into the package what was measured, if it lacks some or says otherwise: the fingerprints of the known
    mistakes, what accepted solutions send, and the pictures of the page."""
    from grader.mistakes.known_mistakes import known_text, updated
    from grader.package.budget import BUDGET, budget_text
    from grader.package.pictures import PICTURES
    from grader.review.reader import KNOWN

    if report.package is None or report.judged is None:
        return
    pictures = report.judged.pictures
    if pictures is not None and not pictures.holds(report.package.pictures):
        (report.path / PICTURES).write_text(pictures.text(), encoding="utf-8")
        print(f"{report.path.name}: wrote {PICTURES}, what its page draws before anybody runs it", file=sys.stderr)
    budget = report.judged.budget
    if budget is not None and budget != report.package.budget:
        (report.path / BUDGET).write_text(budget_text(budget), encoding="utf-8")
        print(f"{report.path.name}: wrote {BUDGET}, how much its accepted solutions send", file=sys.stderr)
    if not report.judged.fingerprints:
        return
    known = updated(report.package, report.judged.fingerprints)
    if known != report.package.known:
        (report.path / KNOWN).write_text(known_text(known), encoding="utf-8")
        print(f"{report.path.name}: wrote {KNOWN}, the fingerprints of its known mistakes", file=sys.stderr)


def _with(report: _Report, judged: "JudgeReport", mutants: "JudgeReport | None", *, is_kept: bool = False) -> _Report:
    # A budget that was wrong has been measured again and written.
    read = tuple(each for each in report.faults if each.rule != "budget" or judged.budget is None)
    faults = read + judged.faults + (mutants.faults if mutants else ())
    return replace(report, faults=faults, judged=judged, mutants=mutants, is_kept=is_kept)


def _judge(left: Sequence[_Report], request: _Request) -> "Iterator[tuple[_Report, JudgeReport, JudgeReport | None]]":
    """Judge packages, and mutants of those that are right. Each is yielded as soon as it is done."""
    from app.authoring.package_check import judge_mutants, judge_package, mutants_in
    from app.authoring.package_pictures import draw_package
    from app.entry.cli.local_judge import local_judge
    from grader.core.context import Context
    from grader.package.variants import every_variant
    from grader.review.validation import expectations

    packages_left = [each.package for each in left if each.package]
    # In addition: the cases, and what the reference returns.
    total = sum(
        1 + len(expectations(each)) + request.runs for package in packages_left for each in every_variant(package)
    )
    total += sum(len(mutants_in(each, request.mutants)) for each in packages_left)
    count, guard, stop = 0, threading.Lock(), threading.Event()

    def say(slug: str, file: str) -> None:
        nonlocal count
        with guard:
            count += 1
            context.progress(f"{count} of {total}: {slug}/{file}")

    with local_judge(at_once=request.jobs) as (judge, context):
        quiet = Context(stop=stop)
        submissions, packages = ThreadPoolExecutor(request.jobs), ThreadPoolExecutor(request.jobs)
        try:

            def judged_by(each: _Report) -> "tuple[JudgeReport, JudgeReport | None]":
                package = each.package
                assert package is not None

                def of_package(file: str) -> None:
                    say(package.slug, file)

                options: dict[str, Any] = {"runs": request.runs, "is_thorough": request.is_thorough}
                found = judge_package(package, judge, quiet, submissions, of_package, **options)
                if found.complete and not found.has_errors:
                    found = replace(found, pictures=submissions.submit(draw_package, package, judge, quiet).result())
                # Where the judge fails on the package itself, mutants would prove nothing.
                if (
                    not request.mutants
                    or not found.submissions
                    or any(each.rule == "reference" for each in found.faults)
                ):
                    return found, None
                return found, judge_mutants(package, request.mutants, judge, quiet, submissions, of_package)

            running = {packages.submit(judged_by, each): each for each in left}
            for number, future in enumerate(as_completed(running), 1):
                judged, of_mutants = future.result()
                each = running[future]
                count_of = (
                    f"{judged.submissions} submissions{f', {of_mutants.submissions} mutants' if of_mutants else ''}"
                )
                print(f"{each.path.name}: {count_of} judged ({number} of {len(left)})", file=sys.stderr, flush=True)
                yield each, judged, of_mutants
        except BaseException:
            stop.set()
            raise
        finally:
            for pool in (packages, submissions):
                pool.shutdown(wait=False, cancel_futures=True)


def environment() -> str:
    """Everything besides a package that decides what the judge finds: this program, and what it runs on."""
    import hashlib
    import importlib.metadata

    from app.core.version import VERSION
    from grader.core.code_digest import PACKAGES, grader_code

    digest = hashlib.sha256(grader_code().encode())
    # The version alone would keep what an earlier state of the checkout found.
    root = Path(__file__).parents[3]
    for file in sorted((root / "app" / "authoring").glob("*_check.py")):
        digest.update(file.read_bytes())
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return ", ".join([f"meshgrade {VERSION} {digest.hexdigest()[:16]}", *versions])


def _as_json(reports: Sequence[_Report]) -> dict[str, Any]:
    return {
        "errors": sum(each.count("error") for each in reports),
        "warnings": sum(each.count("warning") for each in reports),
        "packages": [
            {
                "path": str(each.path),
                "slug": each.package.slug if each.package else None,
                "version": each.package.version if each.package else None,
                "judged": each.judged is not None,
                "unchanged": each.is_kept,
                "measured": each.judged.measured if each.judged else {},
                "mutants": each.mutants and {"judged": each.mutants.submissions, "survived": survivors(each.mutants)},
                "findings": [_fault_as_json(fault) for fault in _in_order(each.faults)],
            }
            for each in reports
        ],
    }


def _fault_as_json(fault: "PackageFault") -> dict[str, Any]:
    shown = ("rule", "file", "line", "message", "level", "fix")
    return {name: getattr(fault, name) for name in shown}


def _in_order(faults: "Sequence[PackageFault]") -> "list[PackageFault]":
    return sorted(faults, key=lambda each: (each.level, each.file, each.line or 0))


def _print(reports: Sequence[_Report]) -> None:
    from rich.console import Console

    from app.entry.cli.verdict_text import safe

    console = Console(highlight=False, soft_wrap=True)
    for each in reports:
        name = each.package.slug if each.package else each.path.name
        if not each.faults:
            console.print(f"[green]passed[/]   {safe(name)}{_how(each)}")
            continue
        colour = "red" if each.count("error") else "yellow"
        console.print(f"[{colour}]{_counts(each.count('error'), each.count('warning'))}[/]   {safe(name)}{_how(each)}")
        print_faults(console, each.faults)
    errors, warnings = (sum(each.count(level) for each in reports) for level in ("error", "warning"))
    packages = "1 package" if len(reports) == 1 else f"{len(reports)} packages"
    console.print(f"{packages} checked: {_counts(errors, warnings)}.")


def print_faults(console: "Console", faults: "Sequence[PackageFault]") -> None:
    """Errors first, by file and line. The first finding of each rule says how to fix it."""
    from app.entry.cli.verdict_text import safe

    explained = set()
    for found in _in_order(faults):
        place = found.file if found.line is None else f"{found.file}:{found.line}"
        style = "red" if found.level == "error" else "yellow"
        console.print(f"  [{style}]{found.level}[/] [bold]{found.rule}[/] {safe(place)}: {safe(found.message)}")
        if found.rule not in explained:
            console.print(f"    {safe(found.fix)}")
            explained.add(found.rule)


def survivors(mutants: "JudgeReport") -> int:
    return sum(each.rule == "surviving-mutant" for each in mutants.faults)


def _how(report: _Report) -> str:
    if report.judged is None:
        return " [dim](not judged)[/]"
    how = f"{report.judged.submissions} submissions judged"
    if report.mutants is not None:
        how += f", {survivors(report.mutants)} of {report.mutants.submissions} mutants survived"
    if report.is_kept:
        how += ", unchanged since then"
    return f" [dim]({how})[/]"


def _counts(errors: int, warnings: int) -> str:
    """`2 errors, 1 warning`"""
    parts = [(errors, "error"), (warnings, "warning")]
    shown = [f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts if number]
    return ", ".join(shown) or "no errors"
