"""Run a package's own code in the sandbox, and describe its faults."""

from grader.core import wire
from grader.core.case import Case
from grader.core.context import Stop
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.wire import MAX_CASES
from grader.package.package import Package
from grader.review.names import wrong_cases
from grader.sandbox.protocol import RunnerSpec, Sandbox, Warmup

# This is prepended to a warm-up, so that it can import the package's modules before a submission is loaded with them.
_IMPORTABLE = """from grader.runner.further_modules import FurtherModules

FurtherModules({helpers!r}).install()
"""


def runner_spec(package: Package, rehearsal: str = "") -> RunnerSpec:
    """The runner that a submission to this problem gets.

    Args:
      rehearsal: public code that warms the runner if the package has no warmup.py.
    """
    source = package.warmup or rehearsal
    if source and package.helpers:
        source = _IMPORTABLE.format(helpers=package.helpers) + source
    warmup = Warmup(package.identity, source) if source else None
    return RunnerSpec(package.manifest.devices, package.manifest.limits, warmup)


def make_cases(sandbox: Sandbox, spec: RunnerSpec, package: Package, key: str, stop: Stop) -> tuple[Case, ...]:
    """Run cases.py in its own runner, and return its cases, public ones first.

    Args:
      key: the key from which the runner derives each hidden case's seed.
    Raises:
      GraderFault: cases.py failed, or returned something other than cases that the reference accepts.
    """
    cases: list[Case] = []
    try:
        with sandbox.open(spec, stop) as session:
            for kind, drawn_from in (("public", None), ("hidden", key)):
                session.load(package.cases, f"{kind}_cases", modules=package.helpers)
                cases += _cases_of(package, kind, session.cases(drawn_from))
    except SubmissionFault as fault:
        raise failed(package, "cases.py", fault) from None
    refuse(package, wrong_cases(package.manifest, package.reference, {case.id: case.inputs for case in cases}))
    return tuple(cases)


def failed(package: Package, file: str, fault: SubmissionFault) -> GraderFault:
    """The error for a package's author if one of its files failed."""
    return GraderFault(f"{package.slug}: {file} failed: {fault_text(fault)}")


def fault_text(fault: SubmissionFault) -> str:
    """Describe a fault of the package's own code."""
    return f"{fault.detail.get('type', fault.reason)}: {fault}"


def refuse(package: Package, faults: list[str]) -> None:
    """Raise GraderFault if there are faults. Fail closed: a check that names nothing must not let submissions pass."""
    if faults:
        raise GraderFault(f"{package.slug}: {'; '.join(faults)}")


def _cases_of(package: Package, kind: str, made: object) -> list[Case]:
    if not isinstance(made, list) or not 1 <= len(made) <= MAX_CASES or not all(_is_case(case) for case in made):
        raise GraderFault(
            f"{package.slug}: {kind}_cases in cases.py must return 1 to {MAX_CASES} dicts, argument name to value"
        )
    return [Case(f"{kind}-{number}", kind == "public", case) for number, case in enumerate(made, 1)]


def _is_case(case: object) -> bool:
    return (
        isinstance(case, dict)
        and bool(case)
        and not any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(case))
    )
