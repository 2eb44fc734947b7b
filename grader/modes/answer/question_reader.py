"""Read the questions that a package has drawn behind the walls, and find their faults."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from grader.answers.answer_text import AnswerUnfit, Value, agrees, read_answer
from grader.answers.question_mesh import mesh_of
from grader.answers.question_variants import Variant, WrongFormula
from grader.core.template import fill
from grader.package.package import AnswerManifest, AnswerSpec, Package

TEMPLATES = ("question.md", "explanation.md")
_MAX_FAULTS = 5


class BadVariant(Exception):
    """A question cannot be used. The message names the file and the reason."""


def read_variant(manifest: AnswerManifest, number: int, text: object) -> Variant:
    """Read one question, as grader/modes/answer/question_program.py writes it. Raises BadVariant if it cannot be
    used.
    """
    try:
        solved = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        solved = None
    if not isinstance(solved, dict):
        raise BadVariant("questions.py did not return plain data: numbers, strings, lists and dicts")
    parameters, truth, steps = (solved.get(name) for name in ("parameters", "truth", "steps"))
    if not isinstance(parameters, dict) or not parameters:
        raise BadVariant("questions.py: draw must return a dict, parameter name to value, with at least one")
    if not isinstance(steps, dict):
        raise BadVariant("questions.py: steps must return a dict, name to value")
    where = f"questions.py: truth({parameters})"
    try:
        mesh_of(manifest, parameters)
    except ValueError as error:
        raise BadVariant(f"problem.toml: mesh: {error}, in the question with {parameters}") from None
    expected = _values(manifest, truth, where)
    if missing := [spec.id for spec in manifest.answers if spec.id not in expected]:
        raise BadVariant(f"{where} lacks an answer for '{missing[0]}'")
    mistakes = tuple(_mistake(manifest, each, parameters, expected) for each in solved.get("mistakes", []))
    return Variant(number, parameters, expected, steps, mistakes)


def different(variants: list[Variant]) -> tuple[Variant, ...]:
    """The questions without repetitions: one that was drawn twice counts once."""
    seen: dict[str, Variant] = {}
    for each in variants:
        seen.setdefault(json.dumps(each.parameters, sort_keys=True), each)
    return tuple(seen.values())


def wrong_questions(package: Package, manifest: AnswerManifest, variants: tuple[Variant, ...]) -> list[str]:
    """The faults of all questions together, for the author."""
    faults = list(_too_few(manifest, variants))
    for name in TEMPLATES:
        faults += _unknown_in_template(package, name, variants)
    if not variants[0].mistakes:
        faults.append("mistakes.py has no function: it must have at least one known wrong formula")
    return faults[:_MAX_FAULTS]


def _values(manifest: AnswerManifest, raw: object, where: str) -> dict[str, Value]:
    if not isinstance(raw, dict):
        raise BadVariant(f"{where} must return a dict, the id of an answer to its value")
    specs = {spec.id: spec for spec in manifest.answers}
    values = {}
    for name, value in raw.items():
        if name not in specs:
            raise BadVariant(f"{where} answers '{name}', which problem.toml does not ask for")
        values[name] = _value(specs[name], value, where)
    return values


def _value(spec: AnswerSpec, value: object, where: str) -> Value:
    if spec.kind == "number" and isinstance(value, str):
        raise BadVariant(f"{where}: '{spec.id}' must be a number")
    try:
        return read_answer(spec, value)
    except AnswerUnfit as unfit:
        raise BadVariant(f"{where}: '{spec.id}': {unfit}") from None


def _mistake(
    manifest: AnswerManifest, raw: Mapping[str, Any], parameters: dict[str, object], truth: Mapping[str, Value]
) -> WrongFormula:
    where = f"mistakes.py: {raw['name']}({parameters})"
    if not raw["misunderstanding"]:
        raise BadVariant(f"mistakes.py: {raw['name']} must have a docstring that states what its author believed")
    values = _values(manifest, raw["answers"], where)
    specs = {spec.id: spec for spec in manifest.answers}
    wrong = {name: value for name, value in values.items() if not agrees(specs[name], value, truth[name])}
    return WrongFormula(raw["name"], raw["misunderstanding"], wrong)


def _too_few(manifest: AnswerManifest, variants: tuple[Variant, ...]) -> Iterator[str]:
    if 2 * len(variants) < manifest.variants:
        yield (
            f"questions.py: {manifest.variants} draws gave {len(variants)} different questions; at least half must "
            "differ. Draw from more values"
        )
    truths = [json.dumps(each.truth, sort_keys=True) for each in variants]
    most = max(truths.count(each) for each in truths)
    if 2 * most > len(truths):
        yield f"questions.py: {most} of {len(truths)} questions have the same answers. Draw from more values"


def _unknown_in_template(package: Package, name: str, variants: tuple[Variant, ...]) -> list[str]:
    text = package.files[name]
    for each in variants:
        try:
            fill(text, each.parameters if name == "question.md" else each.names())
        except KeyError as unknown:
            return [f"{name}: there is no value {unknown} in the question with {each.parameters}"]
        except (TypeError, ValueError) as error:
            return [f"{name}: a value cannot be shown in the question with {each.parameters}: {error}"]
    return []
