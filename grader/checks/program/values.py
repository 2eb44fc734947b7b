"""Check that the program computes what the reference computes: the initial state, and each step's state and loss."""

from grader.checks.compare import tolerances_used
from grader.checks.finding import Finding
from grader.checks.program_subject import Result, Subject
from grader.checks.weight_decay import LEAST_SHARE
from grader.checks.wording import ZERO, Wording, closeness, listed, power, tolerances
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.measurement import mesh_name
from grader.verdicts.evidence import Evidence, FailedCase
from grader.verdicts.verdict import Trust

TITLE = "Values"
TRUST: Trust = "verified"
Bounds = CheckBounds


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    program, close = manifest.program, closeness(manifest.tolerances)
    exact = [f"compared on {listed(f'mesh {mesh_name(mesh)}' for mesh in program.meshes)}"]
    if program.init is None:
        sentence = f"the result of every case matches the reference on every mesh{close}"
    else:
        steps = "the step" if program.steps == 1 else f"each of the {program.steps} steps"
        sentence = f"the initial state, and the state and loss after {steps}, match the reference{close}"
        exact.append(f"no leaf of the state shrinks by {power(LEAST_SHARE)} of its initial values or more")
    return Wording((sentence + ZERO,), (*exact, *tolerances(manifest.tolerances)))


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if no case differs on any mesh. Evidence: the tolerances, and the public cases that failed."""
    wrong = [result for result in subject.results if result.mismatch]
    evidence: list[Evidence] = [
        *tolerances_used(_outputs(subject), subject.tolerances),
        *(_failed_case(result) for result in wrong if result.case.public),
    ]
    if wrong:
        failed = {result.case.id for result in wrong}
        number = len({result.case.id for result in subject.results})
        first = next((result for result in wrong if result.case.public), wrong[0])
        assert first.mismatch is not None
        message = f"{len(failed)} of {number} cases failed. The first is {first.case.id} {message_of(first)}"
        return Finding(False, message, first.mismatch.reason, evidence, headlines=[_headline(first)])
    # A mesh has several programs if the shapes of cases differ.
    meshes = " and ".join(dict.fromkeys(mesh_name(pair.mine.mesh) for pair in subject.pairs))
    return Finding(True, f"Every case agrees with the reference on {meshes}.", None, evidence)


def _headline(result: Result) -> str:
    assert result.mismatch is not None
    if not result.where:
        return result.mismatch.headline
    return f"{result.where[0].upper()}{result.where[1:]}, {result.mismatch.kind}."


def message_of(result: Result) -> str:
    """Describe what went wrong. A hidden case shows only the kind of fault."""
    assert result.mismatch is not None
    where = f", {result.where}" if result.where else ""
    difference = result.mismatch.message if result.case.public else f"{result.mismatch.kind}."
    return f"on {mesh_name(result.mesh)}{where}: {difference}"


def _outputs(subject: Subject) -> list[tuple[str, object]]:
    return [each for result in subject.results for each in result.expected.steps[-1].items()]


def _failed_case(result: Result) -> FailedCase:
    assert result.mismatch is not None
    return FailedCase(case=result.case.id, mesh=result.mesh, where=result.where, difference=result.mismatch.difference)
