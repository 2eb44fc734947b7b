"""What a problem of this repository needs beyond the rules of `problem check`, read from files alone.

Each rule yields the faults of one problem as `file:line: message`. The tests apply a rule to every problem, and
`python -m tests.lacks problem SLUG` applies all of them to one.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from typing import Any, cast

import jsonschema_rs
import numpy as np

from app.authoring.package_check import judge_package
from app.core.web.figures import inline_figure
from app.learning.lessons.lesson_files import read_order
from app.problems.tracks import read_tracks
from grader.checks.program import sharding
from grader.core.context import QUIET
from grader.core.toml import read_toml
from grader.mistakes.known_mistakes import KnownMistakes, current, is_alike
from grader.package.ceiling import Ceiling
from grader.package.pictures import picture_of
from grader.package.variants import every_variant
from grader.review.case_variety import unvaried
from grader.review.mutants import mutants_of
from grader.review.rules import review_package, uuids_in
from grader.review.validation import expectations
from tests.grader import shipped_verdicts
from tests.grader.package.manifest_schema import schema
from tests.grader.shipped_submissions import PROBLEMS, package
from tests.grader.verdict_digests import digests
from tests.problems.passages import passages, plain
from tests.prove.problems import uncovered

CHECKOUT = PROBLEMS.parent
LESSONS = CHECKOUT / "lessons"
Rule = Callable[[str], Iterable[str]]
# Emphasis of a word with an underscore: nothing but a slug looks like that, since code stands between backticks.
SLUG = re.compile(r"(?<![`*\w])\*([a-z0-9]+(?:_[a-z0-9]+)+)\*(?![`*\w])")
_LESSON = re.compile(r"\]\(/lessons/([a-z0-9-]+)(?:#s-([a-z0-9-]+))?\)")
_AXES = "/lessons/meshes-and-specs#s-auto-or-explicit-axes"
# What a figure may need beside the editor, as in `class="least-40"`: a statement has 640 pixels on a screen of 1,440.
_WIDEST = 40
# Grey is not among them: what no slice has stays grey in both themes.
HUE = re.compile(r">[^<]*\b(blue|orange|green|purple|violet|teal|cyan|red|yellow|pink|brown)\b[^<]*<", re.IGNORECASE)
# Lines of a statement, and submissions that show what is right and what goes wrong.
_STATEMENT, _ACCEPTED, _REJECTED = 60, 4, 8


def all_slugs() -> list[str]:
    return sorted(path.parent.name for path in PROBLEMS.glob("*/problem.toml"))


def shipped_faults(rule: Rule) -> list[str]:
    """The faults of every problem."""
    return [fault for slug in all_slugs() for fault in rule(slug)]


def _texts(slug: str) -> Iterator[tuple[str, str]]:
    """Each text of a package, with its path in the repository."""
    for path in sorted((PROBLEMS / slug).glob("*.md")):
        yield path.relative_to(CHECKOUT).as_posix(), path.read_text(encoding="utf-8")


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def breaks_a_rule(slug: str) -> Iterator[str]:
    """Every rule of `problem check` that needs no judge."""
    for fault in review_package(PROBLEMS / slug, Ceiling(), _uuids()).faults:
        yield f"problems/{slug}/{fault.file}:{fault.line or 1}: {fault.rule}: {fault.message}"


@cache
def _uuids() -> dict[str, Any]:
    return dict(uuids_in(PROBLEMS))


def does_not_fit_the_schema(slug: str) -> Iterator[str]:
    manifest = read_toml((PROBLEMS / slug / "problem.toml").read_text(encoding="utf-8"))
    for error in _validator().iter_errors(manifest):
        yield f"problems/{slug}/problem.toml:1: docs/problem.schema.json: {error.message}"


@cache
def _validator() -> Any:
    return jsonschema_rs.Draft202012Validator(schema())


def has_no_place_in_a_track(slug: str) -> Iterator[str]:
    order = [each for track in read_tracks(PROBLEMS) for each in track.problems]
    if slug not in order:
        yield f"problems/tracks.toml:1: no track lists {slug}"
        return
    manifest = package(slug).manifest
    for each in manifest.prerequisites:
        if each not in order[: order.index(slug)]:
            yield f"problems/tracks.toml:1: {slug} comes before {each}, which it requires"
    titles = [track.title for track in read_tracks(PROBLEMS) if slug in track.problems]
    if titles != [manifest.track]:
        yield f"problems/{slug}/problem.toml:1: the track is '{manifest.track}', but tracks.toml has it in {titles}"


def stands_in_no_lesson(slug: str) -> Iterator[str]:
    if not any(slug in lesson.problems for lesson in read_order(LESSONS)):
        yield f"lessons/order.toml:1: no lesson has {slug} in its problems"


def is_the_place_of_no_topic(slug: str) -> Iterator[str]:
    row = f"[{slug}](../problems/{slug}/statement.md)"
    if row not in (CHECKOUT / "docs" / "curriculum.md").read_text(encoding="utf-8"):
        yield f"docs/curriculum.md:1: no topic has {row}"


def names_an_unknown_problem(slug: str) -> Iterator[str]:
    for file, text in _texts(slug):
        for found in SLUG.finditer(text):
            if not (PROBLEMS / found[1] / "problem.toml").is_file():
                yield f"{file}:{_line(text, found.start())}: there is no problem {found[1]}"


def links_an_unknown_lesson(slug: str) -> Iterator[str]:
    for file, text in _texts(slug):
        for found in _LESSON.finditer(text):
            page = LESSONS / found[1] / "lesson.md"
            if not page.is_file():
                yield f"{file}:{_line(text, found.start())}: there is no lesson {found[1]}"
                continue
            headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^a-z0-9]+", "-", each.lower()).strip("-") for each in headings]
            if found[2] and found[2] not in anchors:
                yield f"{file}:{_line(text, found.start())}: the lesson {found[1]} has no heading {found[2]}"


def does_not_say_what_its_axes_are(slug: str) -> Iterator[str]:
    """`jax.make_mesh` gives Explicit axes, and students know it from elsewhere. On one device, axes do not matter."""
    manifest = package(slug).manifest
    if manifest.mode != "program" or {prod(mesh.values()) for mesh in manifest.program.meshes} == {1}:
        return
    statement = package(slug).statement
    if "Auto" not in statement or f"({_AXES})" not in statement:
        yield f"problems/{slug}/statement.md:1: say that the axes are Auto, and link it to {_AXES}"


def has_a_statement_that_is_too_long(slug: str) -> Iterator[str]:
    if (lines := package(slug).statement.count("\n")) > _STATEMENT:
        yield f"problems/{slug}/statement.md:1: it has {lines} lines, and {_STATEMENT} at most: use a lesson for more"


def lacks_submissions_meshes_or_a_figure(slug: str) -> Iterator[str]:
    found = package(slug)
    if not found.figures:
        yield f"problems/{slug}/figures:1: there is no figure"
    if found.manifest.mode == "answer":
        return
    for kind, known, least in (("accepted", found.accepted, _ACCEPTED), ("rejected", found.rejected, _REJECTED)):
        if len(known) < least:
            yield f"problems/{slug}/submissions/{kind}:1: {len(known)} submissions, and at least {least} are needed"
    if found.manifest.mode != "program":
        return
    sizes = {prod(mesh.values()) for mesh in found.manifest.program.meshes}
    if not (sizes >= {8, 4} or sizes == {1}):
        yield f"problems/{slug}/problem.toml:1: meshes of 8 and of 4 devices are needed, or all of 1 device"


def does_not_say_which_spec_a_leaf_has(slug: str) -> Iterator[str]:
    """A message that compares specs is of little use without the rule that they follow."""
    for check in package(slug).manifest.checks:
        if isinstance(check.bounds, sharding.Bounds) and not check.bounds.rule:
            yield f"problems/{slug}/problem.toml:1: the check sharding has no rule"


def has_a_figure_that_does_not_fit(slug: str) -> Iterator[str]:
    for path in sorted((PROBLEMS / slug / "figures").glob("*.svg")):
        drawn, file = inline_figure(path.read_text(encoding="utf-8")), f"problems/{slug}/figures/{path.name}:1"
        if drawn is None:
            yield f"{file}: only shapes and text in the palette become part of a page"
        elif (least := int(drawn.split('class="least-')[1].split('"')[0])) > _WIDEST:
            yield f"{file}: its text needs least-{least}, and {_WIDEST} fit beside the editor"


def names_a_colour_that_the_theme_replaces(slug: str) -> Iterator[str]:
    for path in sorted((PROBLEMS / slug / "figures").glob("*.svg")):
        text = path.read_text(encoding="utf-8")
        for found in HUE.finditer(text):
            place = f"problems/{slug}/figures/{path.name}:{_line(text, found.start())}"
            yield f"{place}: {found[1]} is another colour on the page"


def blocks_that_are_no_python(slug: str) -> Iterator[str]:
    """Hints and editorials print parts of a solution, which need not run alone; `...` stands for what is left out."""
    for file, text in _texts(slug):
        for block in re.finditer(r"^```python[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            # A `return` belongs to the function that the part was taken from.
            code = "def part():\n" + "".join(f"    {line}\n" for line in block[1].splitlines())
            try:
                ast.parse(code)
            except SyntaxError as error:
                yield f"{file}:{_line(text, block.start()) + (error.lineno or 1) - 1}: {error.msg}"


def has_numbers_that_nothing_measures(slug: str) -> Iterator[str]:
    """Each number in a text needs a passage in tests/problems/numbers; whether it is right, tests/problems measures."""
    file = CHECKOUT / "tests" / "problems" / "numbers" / f"{slug}.txt"
    name = file.relative_to(CHECKOUT).as_posix()
    if not file.is_file():
        yield f"{name}:1: it is missing; it repeats the passages of the statement and the editorial that hold numbers"
        return
    for text, listed in passages(slug).items():
        said, covered = plain((PROBLEMS / slug / text).read_text(encoding="utf-8")), []
        for passage in listed:
            pattern = re.sub(r"\\\[\\\[.*?\\\]\\\]", ".{1,60}?", re.escape(passage))
            found = re.findall(rf"{pattern}(?!\d)", said)
            if not found:
                yield f"{name}:1: {text} does not say: {passage}"
            covered += found
        for each in uncovered(said, covered):
            yield f"problems/{slug}/{text}:1: {name} has no passage for the number in: {each}"


def has_no_function_that_places_its_answers(slug: str) -> Iterator[str]:
    file = CHECKOUT / "tests" / "problems" / "answer_questions.py"
    asks = (PROBLEMS / slug / "questions.py").is_file()
    if asks and not re.search(rf"^def {slug}\(parameters", file.read_text(encoding="utf-8"), re.MULTILINE):
        yield f"{file.relative_to(CHECKOUT)}:1: def {slug}(parameters, answers), which finds its answers, is missing"


def has_hidden_cases_that_do_not_vary(slug: str) -> Iterator[str]:
    if not (PROBLEMS / slug / "cases.py").is_file():
        return
    names: dict[str, Any] = {"__name__": "cases"}
    exec(package(slug).cases, names)
    # Draw the cases as another server would: shapes, seeds and numbers do not depend on `rng`.
    for fault in unvaried(package(slug), list(names["hidden_cases"](np.random.default_rng(1)))):
        yield f"problems/{slug}/cases.py:1: {fault}"


def has_mutants_that_do_not_differ(slug: str) -> Iterator[str]:
    if package(slug).manifest.mode == "answer":
        return
    reference, file = package(slug).reference, f"problems/{slug}/reference.py"
    sources = [each.source for each in mutants_of(reference, 1000)]
    if not sources:
        yield f"{file}:1: it has no mutants"
    if len(set(sources)) < len(sources):
        yield f"{file}:1: two mutants are the same"
    if ast.unparse(ast.parse(reference)) in sources:
        yield f"{file}:1: a mutant is the reference itself"
    for source in sources:
        ast.parse(source)


def has_verdicts_that_were_not_kept(slug: str) -> Iterator[str]:
    if package(slug).manifest.mode == "answer":
        return
    problem, outlines = package(slug), shipped_verdicts.kept(slug)
    names = [each.file for each in expectations(problem)]
    again = shipped_verdicts.AGAIN.format(slug=slug)
    stored = f"tests/grader/shipped_verdicts/{slug}.json:1"
    now = digests(problem, tuple(names))
    changed = [name for name in names if outlines.get(name, {}).get("of") != now[name]]
    if changed:
        yield f"{stored}: not judged as it is now: {', '.join(changed)}. {again}"
    if left := [name for name in outlines if name not in names]:
        yield f"{stored}: no longer in the package: {', '.join(left)}. {again}"
    elif not changed and list(outlines) != names:
        yield f"{stored}: another order than that of the package. {again}"
    if missing := shipped_verdicts.without_fingerprint(slug):
        yield f"problems/{slug}/known.json:1: no fingerprint of {', '.join(missing)}. {again}"
    if problem.known is None:
        yield f"problems/{slug}/known.json:1: it is missing. {again}"
        return
    known = problem.known.mistakes
    if left := sorted(known.keys() - {each.name for each in problem.rejected}):
        yield f"problems/{slug}/known.json:1: no longer in the package: {', '.join(left)}. {again}"


def breaks_a_judged_rule(slug: str) -> Iterator[str]:
    """Apply these rules to the kept verdicts. `has_verdicts_that_were_not_kept` checks that those are current."""
    if package(slug).manifest.mode == "answer":
        return
    problem = package(slug)
    if not {each.file for each in expectations(problem)} <= shipped_verdicts.kept(slug).keys():
        return
    judge = cast("Any", shipped_verdicts.KeptJudge(problem))
    with ThreadPoolExecutor(1) as executor:
        found = judge_package(problem, judge, QUIET, executor, lambda _: None)
    for fault in found.faults:
        yield f"problems/{slug}/{fault.file}:{fault.line or 1}: {fault.rule}: {fault.message}"
    if found.submissions != len(expectations(problem)):
        yield f"problems/{slug}/submissions:1: only {found.submissions} of {len(expectations(problem))} were judged"


def does_not_recognise_a_copy_of_a_known_mistake(slug: str) -> Iterator[str]:
    """A copy must be recognised, unless another known mistake does the same in the public cases, or these hide it."""
    if package(slug).manifest.mode == "answer":
        return
    problem = package(slug)
    shipped = current(problem)
    for each in problem.rejected:
        mine = shipped.get(each.name)
        if mine is None or not mine.shown or not (mine.results or mine.pattern):
            continue
        told = KnownMistakes(problem, each.source, runs=0).explain(
            mine, each.reason, lambda _: False, has_more=bool(mine.results)
        )
        others = [name for name, other in shipped.items() if is_alike(other, mine, problem.manifest.tolerance)]
        if told != each.misunderstanding and not (told is None and len(others) > 1):
            yield f"problems/{slug}/submissions/rejected/{each.name}.py:1: a copy of it is taken for: {told}"


def has_no_picture_of_what_it_is_now(slug: str) -> Iterator[str]:
    if package(slug).manifest.mode == "answer":
        return
    for each in every_variant(package(slug)):
        if picture_of(each) is None:
            again = f"Run ./meshgrade problem check {slug}, and commit the file."
            yield f"problems/{slug}/pictures.json:1: it is missing, or was made from other files. {again}"
            return


RULES: tuple[Rule, ...] = (
    breaks_a_rule,
    does_not_fit_the_schema,
    has_no_place_in_a_track,
    stands_in_no_lesson,
    is_the_place_of_no_topic,
    names_an_unknown_problem,
    links_an_unknown_lesson,
    does_not_say_what_its_axes_are,
    has_a_statement_that_is_too_long,
    lacks_submissions_meshes_or_a_figure,
    does_not_say_which_spec_a_leaf_has,
    has_a_figure_that_does_not_fit,
    names_a_colour_that_the_theme_replaces,
    blocks_that_are_no_python,
    has_numbers_that_nothing_measures,
    has_no_function_that_places_its_answers,
    has_hidden_cases_that_do_not_vary,
    has_mutants_that_do_not_differ,
    has_verdicts_that_were_not_kept,
    has_no_picture_of_what_it_is_now,
    breaks_a_judged_rule,
    does_not_recognise_a_copy_of_a_known_mistake,
)
