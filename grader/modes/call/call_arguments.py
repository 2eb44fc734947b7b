"""Call the entry point on a case, whose values can stand for a PRNG key or a mesh."""

import math
from collections.abc import Iterator, Sequence

from grader.checks.call_outcome import Answer
from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.modes.call.reference_answers import answer_of
from grader.package.package import CallManifest
from grader.sandbox.protocol import Session


def call_each(session: Session, manifest: CallManifest, cases: Sequence[Case]) -> Iterator[Answer | SubmissionFault]:
    """Call the entry point on each case. Yield its answers, or the faults. Raises the other errors of `Session`."""
    made = [
        {place: manifest.arguments[name] for place, name in enumerate(case.inputs) if name in manifest.arguments}
        for case in cases
    ]
    for values in session.call_each([[*case.inputs.values()] for case in cases], made):
        yield values if isinstance(values, SubmissionFault) else answer_of(values)


def answers_of(session: Session, manifest: CallManifest, cases: Sequence[Case]) -> dict[str, Answer]:
    """Call the entry point on each case, and return its answers by case id. Raises the errors of `Session`."""
    answers: dict[str, Answer] = {}
    for case, answer in zip(cases, call_each(session, manifest, cases), strict=True):
        if isinstance(answer, SubmissionFault):
            raise answer
        answers[case.id] = answer
    return answers


def wrong_arguments(manifest: CallManifest, cases: Sequence[Case]) -> list[str]:
    """Find cases whose values cannot become the keys and meshes of `arguments`."""
    return [
        f"cases.py: {case.id} gives '{name}', of which a {kind} is to be made, another value than {wanted}"
        for case in cases
        for name, kind in manifest.arguments.items()
        for is_right, wanted in (_requirement(kind, case.inputs.get(name), manifest.devices),)
        if not is_right
    ]


def _requirement(kind: str, value: object, devices: int) -> tuple[bool, str]:
    if kind == "key":
        return type(value) is int and 0 <= value < 2**32, "a Python int from 0 to 2**32 - 1"
    sizes = [*value.values()] if isinstance(value, dict) else []
    is_mesh = bool(sizes) and all(type(size) is int and size >= 1 for size in sizes) and math.prod(sizes) <= devices
    return is_mesh, f"a dict of axes and sizes, of at most {devices} devices"
