"""Check that the source does not use what the problem forbids.

The check sees only what is written, not what runs, so its result is observed rather than verified.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from grader.checks.call_outcome import CallSubject
from grader.checks.finding import Finding, Located, rejected
from grader.checks.source_names import NameUse, full_name, names_used
from grader.checks.wording import Wording, named
from grader.package.package import CallManifest, CheckBounds
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "How the function is written"
TRUST: Trust = "observed"
_SHOWN = 3
_DottedName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", max_length=120)]


class ForbiddenNames(CheckBounds):
    """Names of functions or modules with dots, as `jax.numpy.linalg.solve`, and a sentence that says why."""

    names: list[_DottedName] = Field(min_length=1, max_length=32)
    why: Annotated[str, StringConstraints(min_length=1, max_length=300)]


class Bounds(CheckBounds):
    """What the source must not use."""

    forbidden: list[ForbiddenNames] = Field(min_length=1, max_length=16)


def describe(bounds: Bounds, manifest: CallManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    uses = tuple(f"the source does not use {named(each.names, 'or')}" for each in bounds.forbidden)
    return Wording(
        uses,
        (
            *(f"{use}: {each.why}" for use, each in zip(uses, bounds.forbidden, strict=True)),
            "names are looked up in the source, with what they were imported as. What the source only makes while it "
            "runs is not seen",
        ),
    )


def check(subject: CallSubject, bounds: Bounds) -> Finding:
    """Pass if the source uses no forbidden name, and nothing inside a forbidden module."""
    try:
        uses = names_used(subject.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        text = f"the names in your source could not be read ({type(error).__name__}). Nest its expressions less deeply."
        return rejected([Located("", text)], "wrong_structure", [])
    found = [
        (use, name, each.why)
        for use in uses
        for each in bounds.forbidden
        for name in each.names
        if use.is_of(full_name(name))
    ]
    if not found:
        message = "The source uses no forbidden name. This was observed in its text, and is not a proof."
        return Finding(True, message, None, [])
    by_line: dict[str, str] = {}
    for use, _, _ in found:
        by_line.setdefault(f"line {use.line}", use.written)
    evidence = [Facts(about="forbidden names in the source", values=dict(by_line))]
    faults = [Located("Observed in the source: ", _text(*each)) for each in found]
    return rejected(faults, "wrong_structure", evidence, _SHOWN)


def _text(use: NameUse, name: str, why: str) -> str:
    full = "" if use.written == use.name else f", which is `{use.name}`"
    rule = "" if use.name == name else f" (`{name}` is forbidden)"
    return f"line {use.line} uses `{use.written}`{full}{rule}. {why}"
