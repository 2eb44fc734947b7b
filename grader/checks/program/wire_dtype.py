"""Check the dtype of the arrays that collectives carry, in the exported program.

The CPU compiler widens bfloat16 to float32 before a collective, so the compiled program does not show the dtype. The
exported one does, but it may contain collectives that the compiler removes, and lacks those that the partitioner
inserts. So the check reads both: no written collective may have another dtype, and the compiled program must have such
collectives, none of them inserted.
"""

from collections.abc import Sequence
from math import prod
from typing import Annotated, Literal

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, small
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.collective_uses import Kind, collectives_of
from grader.program.facts import WrittenCollective
from grader.program.partitioner import left_to_the_partitioner
from grader.program.shapes import HLO_NAMES, JAX_NAMES, Shape
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Dtype on the wire"
TRUST: Trust = "verified"
Dtype = Literal[
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]


class Rule(CheckBounds):
    """Collectives of these kinds carry arrays of these dtypes only, and there is at least one such collective."""

    kinds: list[Kind] = Field(min_length=1)
    dtypes: list[Dtype] = Field(min_length=1)
    means: Annotated[str, Field(max_length=600)] = ""


class Bounds(CheckBounds):
    """The partitioner may insert collectives that move less than `ignore_below` bytes over all their executions.
    Written collectives count however small they are."""

    rules: list[Rule] = Field(min_length=1)
    ignore_below: int = Field(default=64, ge=0)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    carried = [f"every {_listed(rule.kinds)} carries {_listed(rule.dtypes, 'or')}" for rule in bounds.rules]
    return Wording(
        tuple(carried),
        (
            *(f"{each}, in the exported program, and the compiled one has such a collective" for each in carried),
            *small(bounds.ignore_below, "collectives that XLA's partitioner inserts"),
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if every collective that a rule is about has one of its dtypes, on every mesh. Evidence: the dtypes."""
    evidence: list[Facts] = []
    faults: dict[int, Located] = {}
    for pair in subject.pairs:
        evidence.append(Facts(**subject.entry(pair), about="collectives of the exported program", values=_sums(pair)))
        for number, rule in enumerate(bounds.rules):
            fault = _broken(pair, rule, bounds.ignore_below)
            if fault:
                # Report only the first mesh that breaks a rule.
                text = f"{fault} {rule.means}".rstrip()
                faults.setdefault(number, Located(f"On {subject.place(pair)}, ", text))
    if faults:
        return rejected(list(faults.values()), "wrong_communication", evidence)
    dtypes = "; ".join(f"{_listed(rule.kinds)} in {_listed(rule.dtypes, 'or')}" for rule in bounds.rules)
    return Finding(True, f"In the exported program: {dtypes}.", None, evidence)


def _broken(pair: Pair, rule: Rule, ignore_below: int) -> str | None:
    """Describe how the rule is broken, as the end of a sentence that begins with the mesh; None if it is not."""
    expected = _listed(rule.dtypes, "or")
    allowed = {HLO_NAMES[dtype] for dtype in rule.dtypes}
    wrong = [each for each in _written(pair) if each.kind in rule.kinds and not set(each.dtypes) <= allowed]
    if wrong:
        kind = wrong[0].kind
        number = sum(each.kind == kind for each in wrong)
        dtype = next(JAX_NAMES.get(name, name) for name in wrong[0].dtypes if name not in allowed)
        these, carry = (f"one {kind}", "carries") if number == 1 else (f"{number} {kind}s", "carry")
        return f"{these}{_line(pair, wrong[0])} {carry} {dtype}; expected {expected}."
    for each in left_to_the_partitioner(pair.mine, ignore_below):
        if each.kind in rule.kinds:
            line = f" (line {each.source_line})" if each.source_line else ""
            return (
                f"XLA's partitioner inserted one {each.kind} of {in_bytes(each.logical_bytes)}{line}, so the exported "
                f"program does not show its dtype; expected {expected}. Write the collective inside the function that "
                "you pass to `jax.shard_map`."
            )
    if not any(each.kind in rule.kinds for each in collectives_of(pair.mine, ignore_below=ignore_below)):
        return f"the compiled program has no {_listed(rule.kinds, 'or')}; expected one that carries {expected}."
    return None


def _written(pair: Pair) -> list[WrittenCollective]:
    """The collectives that are called from inside a shard_map. A function that is never called has none."""
    return [each for each in pair.mine.facts.written if each.operand_bytes]


def _line(pair: Pair, written: WrittenCollective) -> str:
    """The line of the compiled collectives of the same kind and size; empty if they are on several lines."""
    elements = written.operand_bytes * 8 // Shape(written.dtypes[0], ()).bits
    lines: set[int | None] = {
        each.source_line
        for each in pair.mine.facts.census.collectives
        if each.kind == written.kind and elements in map(prod, each.operand_shapes)
    }
    line = lines.pop() if len(lines) == 1 else None
    return "" if line is None else f" (line {line})"


def _sums(pair: Pair) -> dict[str, bool | int | str]:
    """How many collectives there are by kind and dtype, and the bytes of their operands on one device."""
    sums: dict[str, tuple[int, int]] = {}
    for each in _written(pair):
        dtypes = _listed([JAX_NAMES.get(name, name) for name in dict.fromkeys(each.dtypes)])
        number, size = sums.get(f"{each.kind} of {dtypes}", (0, 0))
        sums[f"{each.kind} of {dtypes}"] = number + 1, size + each.operand_bytes
    return {name: f"{number}x, {size:,} bytes of input on each device" for name, (number, size) in sums.items()}


def _listed(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
