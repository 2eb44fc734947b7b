"""Check which StableHLO operations the exported program has."""

from typing import Annotated

from pydantic import AfterValidator, Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, named
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.operations import OPERATIONS
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "How the step is written"
TRUST: Trust = "verified"
# What a student wrote, if its name differs from the operation's.
_WRITTEN_AS = {
    "sdy.manual_computation": "`shard_map`",
    "sdy.sharding_constraint": "`reshard` or `with_sharding_constraint`",
    "stablehlo.partition_id": "`axis_index`",
    "stablehlo.select": "`jnp.where` or an index that may be negative",
    "stablehlo.scatter": "`.at[].set()`",
}


def _listed(name: str) -> str:
    if name not in OPERATIONS:
        raise ValueError(f"no exported program can contain {name!r}; write it as in `stablehlo.multiply`")
    return name


_Operation = Annotated[str, AfterValidator(_listed)]


class Bounds(CheckBounds):
    """All of `required` must occur, at least one of `any_of`, and none of `forbidden`.

    With `stated_products`, each matrix product states the sharding of its result in the next operation, as JAX does for
    each operation on Explicit axes.
    """

    required: list[_Operation] = Field(default_factory=list)
    any_of: list[_Operation] = Field(default_factory=list)
    forbidden: list[_Operation] = Field(default_factory=list)
    stated_products: bool = False


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    uses = []
    if bounds.required:
        uses.append(f"the exported program has {named(bounds.required)}")
    if bounds.any_of:
        uses.append(f"the exported program has {named(bounds.any_of, 'or')}")
    if bounds.forbidden:
        uses.append(f"the exported program does not have {named(bounds.forbidden, 'or')}")
    if bounds.stated_products:
        uses.append("each matrix product states the sharding of its result, as on Explicit axes")
    return Wording(tuple(uses), (*uses, "operations are named as in StableHLO, and those inside functions count"))


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if the exported program has all required and no forbidden operations on every mesh."""
    asked = {*bounds.required, *bounds.any_of, *bounds.forbidden}
    evidence = [
        Facts(**subject.entry(pair), about="operations of the exported program", values=_values(pair, asked, bounds))
        for pair in subject.pairs
    ]
    for pair in subject.pairs:
        used = dict(pair.mine.facts.operations)
        missing = [name for name in bounds.required if name not in used]
        forbidden = [name for name in bounds.forbidden if name in used]
        without = bool(bounds.any_of) and not any(name in used for name in bounds.any_of)
        unstated = pair.mine.facts.unstated_products if bounds.stated_products else 0
        faults = [f"does not use {_names(missing)}"] * bool(missing)
        faults += [f"uses none of {_names(bounds.any_of)}"] * without
        faults += [f"uses {_names(forbidden)}"] * bool(forbidden)
        faults += [f"leaves the sharding of {_products(unstated)} to the partitioner"] * bool(unstated)
        if faults:
            text = (
                f"the step {' and '.join(faults)}. This problem requires a different construction: see the statement."
            )
            return rejected([Located("", text)], "wrong_structure", evidence)
    return Finding(True, "The step is built as required.", None, evidence)


def _values(pair: Pair, asked: set[str], bounds: Bounds) -> dict[str, bool | int | str]:
    used = dict(pair.mine.facts.operations)
    values: dict[str, bool | int | str] = {name: used.get(name, 0) for name in sorted(asked)}
    if bounds.stated_products:
        values["matrix products without a stated sharding"] = pair.mine.facts.unstated_products
    return values


def _names(operations: list[str]) -> str:
    """The names of operations, each with what a student writes for it."""
    return ", ".join(f"{_WRITTEN_AS[name]} ({name})" if name in _WRITTEN_AS else name for name in operations)


def _products(number: int) -> str:
    return f"{number} matrix product{'s' * (number != 1)}"
