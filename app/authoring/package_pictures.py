"""Makes the pictures of a package, so that its page shows them before anybody runs anything."""

from pydantic import JsonValue

from app.grading.queue.protocol import Grader
from app.presentation.outline import outline_of, outline_of_call
from grader.core.context import Context
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.reasons import Reason
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import Explored
from grader.package.package import Package
from grader.package.pictures import drawn_from
from grader.package.variants import every_variant
from grader.verdicts.package_study import OBSERVED
from grader.verdicts.pictures import Outline, Picture, Pictures

# What a busy machine may have caused is compiled again when somebody opens the page.
_CAUSED_BY_LOAD: frozenset[Reason | None] = frozenset({None, "time_limit", "killed", "divergent_collective"})


def draw_package(package: Package, grader: Grader, context: Context) -> Pictures | None:
    """The picture of each variant; None in answer mode, and if the reference gives nothing to draw.

    Raises:
      WallMissing, Cancelled.
    """
    if package.manifest.mode == "answer":
        return None
    drawn: dict[str, Picture] = {}
    for each in every_variant(package):
        solution = _solution(each, grader, context)
        if solution is None:
            return None
        starter = _starter(each, grader, context) if each.manifest.mode == "program" else None
        drawn[each.variant_name or ""] = Picture(of=drawn_from(each), solution=solution, starter=starter)
    return Pictures.of_this_jax(drawn)


def _solution(package: Package, grader: Grader, context: Context) -> Outline | None:
    try:
        if package.manifest.mode == "program":
            programs = explored(grader.inspect(package, package.reference, context)).programs
            return outline_of(programs[0], with_lines=False) if programs else None
        found = grader.answers(package, context)
        case = next((each for each in found.cases if each.public), None)
        if case is None:
            return None
        returned = {path: each for path, each in found.of[""][case.id].items() if not path.startswith(OBSERVED)}
        return outline_of_call(case.inputs, returned)
    except (SubmissionFault, GraderFault):  # a package whose reference fails has faults that say so
        return None


def _starter(package: Package, grader: Grader, context: Context) -> dict[str, JsonValue] | None:
    try:
        result = explored(grader.inspect(package, package.starter, context))
    except SubmissionFault as fault:
        result = fault_of(fault, "source")
    if result.fault is not None and result.fault.reason in _CAUSED_BY_LOAD:
        return None
    stored: dict[str, JsonValue] = _without_texts(result).model_dump(mode="json", exclude_defaults=True)
    return stored


def _without_texts(result: Explored) -> Explored:
    """The first mesh, without the program's texts, of which a small picture shows nothing."""
    nothing: dict[str, object] = {"stablehlo": [], "hlo": [], "jaxpr": [], "arrays": [], "graph": None, "peak": None}
    return result.model_copy(update={"programs": [each.model_copy(update=nothing) for each in result.programs[:1]]})
