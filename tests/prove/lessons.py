"""Claims, figures and programs of lessons."""

import ast
import json
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from app.learning.lessons.lesson import Lesson
from app.learning.lessons.lesson_files import Lessons, read_order
from app.learning.lessons.measured_numbers import blocks
from tests.import_closure import CHECKOUT
from tests.prove import digests
from tests.prove.kind import Kind
from tests.prove.problems import deciding, slugs

LESSONS = CHECKOUT / "lessons"
_CLAIMS = "tests/lessons/measure.py"


def _lessons() -> list[str]:
    return [entry.slug for entry in read_order(LESSONS)]


@cache
def _shipped() -> Lessons:
    return Lessons.load(LESSONS)


def _modules(slug: str) -> tuple[str, ...]:
    return tuple(path for path in digests.files_in(f"lessons/{slug}") if path.endswith(".py"))


def _code(slug: str) -> str:
    """Return the digest of a lesson's programs. It leaves out their outputs, which are only compared."""
    text = (LESSONS / slug / "lesson.md").read_text(encoding="utf-8")
    return digests.of_text(json.dumps([block.code for block in blocks(text)]))


def _of_claims(slug: str) -> dict[str, str]:
    """Return the digests of a lesson's modules and programs, and of each problem named in what the modules import."""
    parts = {"programs": _code(slug), **digests.of_files(_modules(slug))}
    imported = (path for path in digests.shared((_CLAIMS, *_modules(slug))) if path.endswith(".py"))
    words = {word for path in imported for word in _words(path)}
    for problem in words.intersection(slugs()):
        parts |= deciding(problem, "\n".join(words))
    return parts


@cache
def _words(path: str) -> frozenset[str]:
    """Return the texts that a module contains as constants."""
    tree = ast.parse((CHECKOUT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _kept_claims(measured: dict[str, Any]) -> dict[str, Any]:
    """Keep figures as digests, because the files are beside the lesson, and output as a list of lines."""
    return {
        "claims": measured["claims"],
        "figures": {name: digests.of_text(svg) for name, svg in measured["figures"].items()},
        "programs": [{**each, "printed": each["printed"].split("\n")} for each in measured["programs"]],
    }


def _wrong_claims(slug: str, measured: dict[str, Any]) -> list[str]:
    lesson = _shipped().find(slug)
    if lesson is None:
        return [str(fault) for fault in _shipped().faults]
    return [
        *(f"lessons/{slug}/claims.json: {each}" for each in _claims_apart(lesson, measured["claims"])),
        *(f"lessons/{slug}/lesson.md: {each}" for each in _outputs_apart(lesson, measured["programs"])),
        *(
            f"lessons/{slug}/figures/{name} is not what is drawn now: python -m tests.lessons.write_claims {slug}"
            for name, digest in measured["figures"].items()
            if not (file := LESSONS / slug / "figures" / name).is_file() or digests.of_text(file.read_text()) != digest
        ),
    ]


def _claims_apart(lesson: Lesson, measured: dict[str, Any]) -> Iterator[str]:
    written = lesson.claims.model_dump()
    for name in ("jax", "devices"):
        if written[name] != measured[name]:
            yield f"{name} is {written[name]}, measured with {measured[name]}"
    ours, found = written["by_name"], measured["by_name"]
    for name in dict.fromkeys([*ours, *found]):
        if ours.get(name) != found.get(name):
            yield (
                f"{name} is {ours.get(name)}, measured was {found.get(name)}: if that is right, "
                f"python -m tests.lessons.write_claims {lesson.slug}, and then read the lesson again"
            )


def _outputs_apart(lesson: Lesson, ran: list[dict[str, Any]]) -> Iterator[str]:
    for number, (block, found) in enumerate(zip(lesson.blocks, ran, strict=True), 1):
        printed = "\n".join(found["printed"])
        if found["error"]:
            yield f"program {number} ends with {found['error']}"
        elif printed != block.output:
            yield f"program {number} prints {printed!r}, and the lesson shows {block.output!r}"


def _of_programs(slug: str) -> dict[str, str]:
    file = LESSONS / slug / "explore.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["programs"] if file.exists() else []
    asked = [{name: value for name, value in each.items() if name != "expected"} for each in listed]
    return {"programs": _code(slug), "explored": digests.of_text(json.dumps(asked))}


def _kept_programs(measured: dict[str, Any]) -> dict[str, Any]:
    printed = [{**each, "stdout": each["stdout"].split("\n")} for each in measured["printed"]]
    return {"printed": printed, "explored": measured["explored"]}


def _wrong_programs(slug: str, measured: dict[str, Any]) -> list[str]:
    lesson = _shipped().find(slug)
    if lesson is None:
        return [str(fault) for fault in _shipped().faults]
    faults = []
    for number, (block, found) in enumerate(zip(lesson.blocks, measured["printed"], strict=True), 1):
        printed = "\n".join(found["stdout"])
        if not block.runs_here:
            if not found["fault"]:
                faults.append(f"lesson.md: program {number} runs in the sandbox, so take the word elsewhere away")
        elif found["fault"] or found["truncated"]:
            faults.append(f"lesson.md: program {number} does not run to its end in the sandbox: {found['fault']}")
        elif printed != block.output:
            faults.append(
                f"lesson.md: program {number} prints {printed!r} in the sandbox, and the lesson shows {block.output!r}"
            )
    for each in lesson.explorable:
        explored = measured["explored"][each.title]
        if explored["collectives"] != list(each.expected):
            faults.append(f"explore.toml: {each.title} has {explored['collectives']}, expected {list(each.expected)}")
        if not explored["has_lines"]:
            faults.append(f"explore.toml: no collective of {each.title} has a source line")
    return [f"lessons/{slug}/{each}" for each in faults]


KINDS = (
    Kind("claims", _CLAIMS, _lessons, _of_claims, _wrong_claims, imported=_modules, kept=_kept_claims),
    Kind(
        "lesson_programs",
        "tests/lessons/sandbox_programs.py",
        _lessons,
        _of_programs,
        _wrong_programs,
        kept=_kept_programs,
    ),
)
