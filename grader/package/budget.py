"""The total communication of a package's accepted solutions, which bounds that of a submission.

Bounds on single kinds of collectives leave gaps, such as two ways that are each allowed, or a set of axes that no rule
names. So the bytes that a device sends in one call of the program are bounded, too: on each mesh, by the accepted
submission that sends most there. `meshgrade problem check` measures these bytes and writes budget.json.
"""

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence

from pydantic import Field

from grader.core.strict_model import StrictModel
from grader.verdicts.package_study import ProgramTraffic, Traffic

BUDGET = "budget.json"
# A submission may communicate this many bytes more, for a loss or a counter that accepted solutions do not exchange.
SLACK = 64


class Range(StrictModel):
    """Bytes in one call: the reference's, and the least and the most of the reference and the accepted submissions.

    `style` names the submission with the most.
    """

    reference: int = Field(ge=0)
    least: int = Field(ge=0)
    most: int = Field(ge=0)
    style: str


class ProgramBudget(StrictModel):
    """What one program communicates on one mesh.

    Attributes:
      sent: what one device sends around a ring.
      moved: the bytes of the whole tensors. The compiler for CPUs writes an all_reduce and a slice where others write a
        reduce_scatter: it sends twice as much, and moves the same tensor.
      variant: the package's variant, if it has any.
    """

    mesh: str
    cases: tuple[str, ...]
    sent: Range
    moved: Range
    variant: str | None = None


class Budget(StrictModel):
    """budget.json: `jax` is the version that compiled the programs, and `of` a hash of what was measured."""

    jax: str
    of: str
    programs: tuple[ProgramBudget, ...]

    def entry(self, mesh: str, cases: Sequence[str], variant: str | None) -> ProgramBudget | None:
        """What was measured of this program; None for inputs that students chose, and for another version of JAX, whose
        compiler may choose other collectives."""
        if self.jax != _jax_here():
            return None
        for each in self.programs:
            if each.mesh == mesh and each.variant == variant and cases and set(cases) <= set(each.cases):
                return each
        return None


@functools.cache
def _jax_here() -> str:
    """The version of JAX, whose search among the installed packages takes a millisecond."""
    return importlib.metadata.version("jax")


def budget_from(of: str, found: Mapping[str, Sequence[ProgramTraffic]], variant: str | None = None) -> Budget:
    """Summarize what the submissions of a package communicate.

    Args:
      of: see `Budget`.
      found: the traffic by name of the accepted submission; the reference's is under `reference`. Programs whose number
        of executions is unknown are left out.
    """
    mine: dict[tuple[str, tuple[str, ...]], dict[str, Traffic]] = {}
    theirs: dict[tuple[str, tuple[str, ...]], Traffic] = {}
    for style, measured in found.items():
        for each in measured:
            if each.mine is not None and each.reference is not None:
                mine.setdefault((each.mesh, each.cases), {})[style] = each.mine
                theirs[each.mesh, each.cases] = each.reference
    programs = tuple(
        ProgramBudget(
            mesh=mesh,
            cases=cases,
            sent=_range({style: each.sent for style, each in styles.items()}, theirs[mesh, cases].sent),
            moved=_range({style: each.moved for style, each in styles.items()}, theirs[mesh, cases].moved),
            variant=variant,
        )
        for (mesh, cases), styles in mine.items()
    )
    return Budget(jax=_jax_here(), of=of, programs=programs)


def _range(sizes: Mapping[str, int], reference: int) -> Range:
    # On a tie, take the first name, so that the file does not depend on the order of judging.
    style = min(sizes, key=lambda each: (-sizes[each], each))
    return Range(reference=reference, least=min(sizes.values()), most=sizes[style], style=style)


def together(budgets: Sequence[Budget]) -> Budget:
    """Join the budgets of a package's variants, of which there is at least one."""
    return budgets[0].model_copy(update={"programs": tuple(each for budget in budgets for each in budget.programs)})


def measured_from(program: str, files: Mapping[str, str]) -> str:
    """A hash of what decides how much the accepted submissions of a package communicate.

    Args:
      program: the manifest's entries about programs, as text.
      files: the package's, by path.
    """
    digest = hashlib.sha256(program.encode())
    for name, text in sorted(files.items()):
        if name in ("reference.py", "cases.py") or name.startswith(("helpers/", "submissions/accepted/")):
            for part in (name, text):
                digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()[:16]


def budget_text(budget: Budget) -> str:
    """The text of budget.json, one program per line."""
    lines = ",\n".join(f"  {json.dumps(each.model_dump(exclude_defaults=True))}" for each in budget.programs)
    return f'{{\n "jax": {json.dumps(budget.jax)},\n "of": {json.dumps(budget.of)},\n "programs": [\n{lines}\n ]\n}}\n'
