"""What gradings measure beyond verdicts, and the rules about it: the tolerance, what the reference returns, the limits.

Most of it is read off the gradings that `judge_package` needs anyway. In addition, the reference is judged again, and
is run on inputs of which one has changed.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from app.grading.queue.protocol import Grader
from grader.answers.question_variants import Variants
from grader.checks.compare import excess
from grader.core.case import Case
from grader.core.context import QUIET, Context
from grader.core.errors import GraderFault
from grader.core.wire import Array
from grader.inputs.own_inputs import OwnInputs, draw_own
from grader.package.fault import PackageFault, line_in_manifest
from grader.package.package import Package, Tolerance
from grader.review.case_variety import unvaried
from grader.review.key_order import with_keys_reversed
from grader.verdicts.package_study import OBSERVED, Answers, PackageStudy, Watch
from grader.verdicts.verdict import Verdict

# In units of the tolerance: what a correct program may use of it, and what a wrong one must be off by.
_MOST_OF_RIGHT = 0.5
_LEAST_OF_WRONG = 10.0
# Of a limit: what correct submissions may use, and the factors of a proposed limit and of one that is far too high.
_MOST_OF_LIMIT = 0.5
_PROPOSED, _TOO_MUCH = 5.0, 50.0
# A small problem may have a limit above the lowest proposal.
_ABOVE_PROPOSED = 6.0
_NARROWER: dict[str, Any] = {"float64": np.float32, "float32": ml_dtypes.bfloat16, "complex128": np.complex64}
_SEEDS = 3

Say = Callable[[str], None]


class AuthorJudge(Grader, Protocol):
    """The interface of grader.judging.judge.Judge for the author of a package."""

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = ...,
        *,
        hidden: bool = True,
        draw: str | None = None,
        own: OwnInputs | None = None,
        watch: Watch | None = None,
    ) -> Verdict: ...

    def variants(self, package: Package, context: Context = ...) -> Variants | None: ...


def study_package(
    package: Package,
    grader: AuthorJudge,
    context: Context,
    executor: Executor,
    say: Say,
    studies: Mapping[str, PackageStudy],
    *,
    runs: int,
    is_thorough: bool = False,
) -> tuple[list[PackageFault], dict[str, Any]]:
    """Apply the rules about what is measured; also return the measured numbers.

    Args:
      studies: of the gradings of the package's own submissions, by file.
      runs: how often the reference is judged in all.
      is_thorough: also run each accepted submission on other inputs.
    Raises:
      WallMissing, Cancelled.
    """
    again = [executor.submit(_judge_again, package, grader, context, number) for number in range(1, runs)]
    answers = executor.submit(_answers, package, grader, context)
    reordered = executor.submit(_judge_reordered, package, grader, context)
    others = []
    if is_thorough:
        others = [
            (f"submissions/accepted/{each.name}.py", executor.submit(_errors, package, each.source, grader, seed))
            for each in package.accepted
            for seed in range(1, _SEEDS + 1)
        ]
    repeated = []
    for number, future in enumerate(again, 2):
        repeated.append(future.result())
        say(f"reference.py, run {number} of {runs}")
    spread = {file: study.errors for file, study in studies.items() if _is_right(file)}
    for file, other in others:
        errors = other.result()
        say(f"{file}, other inputs")
        spread[file] = {mesh: max(error, spread.get(file, {}).get(mesh, 0.0)) for mesh, error in errors.items()}
    found = list(of_repetition(repeated, runs))
    found += of_tolerance(package, spread, studies)
    found += of_limits(package, studies)
    found += reordered.result()
    found += answers.result()
    say("what the reference returns")
    return found, measured_of(package, spread, studies)


def of_repetition(repeated: Sequence[tuple[Verdict, PackageStudy | None]], runs: int) -> Iterator[PackageFault]:
    """Whether the reference, judged again, got the same verdict and the same results."""
    others = [verdict for verdict, _ in repeated if verdict.status != "accepted"]
    if others:
        failed = next((each for each in others[0].checks if not each.passed), None)
        why = f" {failed.title}: {failed.message}" if failed else ""
        yield PackageFault("flaky", "reference.py", None, f"{len(others)} of {runs} runs were {others[0].status}.{why}")
        return
    worst = max((error for _, study in repeated if study for error in study.errors.values()), default=0.0)
    if worst > _MOST_OF_RIGHT:
        yield PackageFault(
            "flaky", "reference.py", None, f"two runs on the same inputs differ by {worst:.2g} times the tolerance"
        )


def of_tolerance(
    package: Package, spread: Mapping[str, Mapping[str, float]], studies: Mapping[str, PackageStudy]
) -> Iterator[PackageFault]:
    """The distance of the tolerance from correct and from wrong values."""
    line = line_in_manifest(package.files.get("problem.toml", ""), "tolerance")
    file, mesh, error = max(
        ((file, mesh, error) for file, errors in spread.items() for mesh, error in errors.items()),
        key=lambda each: each[2],
        default=("", "", 0.0),
    )
    if error > _MOST_OF_RIGHT and math.isfinite(error):
        where = f" on mesh {mesh}" if mesh else ""
        message = f"{file} differs from the reference by {error:.2g} times the tolerance{where}"
        yield PackageFault("tight-tolerance", "problem.toml", line, message)
    for each in package.rejected:
        file = f"submissions/rejected/{each.name}.py"
        worst = _worst(studies.get(file))
        if each.reason == "wrong_value" and 1 < worst < _LEAST_OF_WRONG:
            yield PackageFault(
                "loose-tolerance", file, None, f"its largest error is only {worst:.2g} times the tolerance"
            )


def of_limits(package: Package, studies: Mapping[str, PackageStudy]) -> Iterator[PackageFault]:
    """Limits that correct submissions nearly reach, or that are far above what they use."""
    text = package.files.get("problem.toml", "")
    proposed = proposed_limits(studies)
    for name, (used, proposal) in proposed.items():
        if name == "wall_s":
            # It measures the machine more than the submission: a busy one takes several times as long.
            continue
        limit = getattr(package.manifest.limits, name)
        line = line_in_manifest(text, f"limits.{name}") or line_in_manifest(text, "limits")
        message = f"correct submissions use up to {used:.3g} of {name} = {limit:g}; proposed: {name} = {proposal:g}"
        if used > _MOST_OF_LIMIT * limit:
            yield PackageFault("tight-limit", "problem.toml", line, message)
        elif limit > max(_TOO_MUCH * used, _ABOVE_PROPOSED * proposal):
            yield PackageFault("loose-limit", "problem.toml", line, message)


def proposed_limits(studies: Mapping[str, PackageStudy]) -> dict[str, tuple[float, float]]:
    """For each limit what correct submissions used at most, and a limit with room above that.

    Each limit applies to each process, and the runner's memory begins with that of JAX.
    """
    spent = [each for file, study in studies.items() if _is_right(file) for each in study.spent]
    if not spent:
        return {}
    cpu_s, wall_s = max(each.cpu_s for each in spent), max(each.wall_s for each in spent)
    memory_mb = max(each.peak_bytes for each in spent) / 2**20
    time_s = max(10.0, 5.0 * math.ceil(_PROPOSED * cpu_s / 5))
    return {
        "time_s": (cpu_s, time_s),
        "wall_s": (wall_s, max(30.0, 2 * time_s, 10.0 * math.ceil(_PROPOSED * max(cpu_s, wall_s) / 10))),
        "memory_mb": (memory_mb, max(1024.0, 512.0 * math.ceil(2 * memory_mb / 512))),
    }


def of_answers(
    answers: Answers, changed: Mapping[str, Answers], tolerances: dict[str, Tolerance]
) -> Iterator[PackageFault]:
    """What the reference returns for its cases, and for the first public one with another value of each input.

    Args:
      changed: by the name of the input.
    """
    meshes = list(answers.of)
    cases = answers.of[meshes[0]]
    first = next(case.id for case in answers.cases if case.public)
    moved: set[str] = set()
    for name, other in changed.items():
        (values,) = other.of[meshes[0]].values()
        different = {path for path, leaf in cases[first].items() if _differs(leaf, values.get(path), tolerances, path)}
        if not different:
            yield PackageFault("unused-input", "cases.py", None, f"another `{name}` gives the same result")
        moved |= different
    for path, leaf in cases[first].items():
        if path.startswith(OBSERVED):
            continue
        others = [values[path] for values in cases.values() if path in values]
        name = f"the output {path}" if path else "the result"
        if leaf.size and all(excess(each, np.zeros_like(each), tolerances, path) <= 1 for each in others):
            yield PackageFault("zero-output", "cases.py", None, f"{name} is zero within the tolerance in every case")
        elif _may_be_constant(leaf) or path in moved or len(others) < 2:
            continue
        elif all(not _differs(leaf, each, tolerances, path) for each in others):
            yield PackageFault("constant-output", "cases.py", None, f"{name} is the same in every case")
    if narrow := _passes_narrowed(cases.values(), tolerances):
        yield PackageFault(
            "loose-tolerance", "problem.toml", None, f"every value passes when it is rounded to {narrow}"
        )
    for mesh in meshes[1:]:
        error, path, case = max(
            (
                (excess(leaf, answers.of[mesh][id].get(path), tolerances, path), path, id)
                for id, values in cases.items()
                if id in answers.of[mesh]
                for path, leaf in values.items()
            ),
            default=(0.0, "", ""),
        )
        if error > 1:
            message = (
                f"in {case}, {path or 'the result'} on mesh {mesh} differs from mesh {meshes[0]} by {error:.2g} times "
                "the tolerance"
            )
            yield PackageFault("mesh-difference", "reference.py", None, message)


def with_changed_input(cases: Sequence[Case]) -> dict[str, Case]:
    """The first public case once for each input that can have another value, by the input's name."""
    first = next(case for case in cases if case.public)
    found = {}
    for name, value in first.inputs.items():
        (drawn,) = draw_own([Case(first.id, True, {name: value})], OwnInputs(seed=20_011))
        other = drawn.inputs[name]
        if isinstance(value, float):
            other = 1.5 * value + 1
        if excess(value, other, {}) > 0:
            found[name] = Case(f"other-{name}", True, {**first.inputs, name: other})
    return found


def measured_of(
    package: Package, spread: Mapping[str, Mapping[str, float]], studies: Mapping[str, PackageStudy]
) -> dict[str, Any]:
    """The numbers behind the faults, for `--json`."""
    errors = [error for each in spread.values() for error in each.values() if math.isfinite(error)]
    wrong = {f"submissions/rejected/{each.name}.py": each.reason for each in package.rejected}
    off = [_worst(study) for file, study in studies.items() if wrong.get(file) == "wrong_value"]
    off = [each for each in off if 1 < each < math.inf]
    one_mesh = [
        file
        for file, study in studies.items()
        if file in wrong and len(study.errors) > 1 and min(study.errors.values()) <= 1 < max(study.errors.values())
    ]
    limits = proposed_limits(studies)
    return {
        "largest_error_of_accepted": _digits(max(errors, default=0.0)),
        "smallest_error_of_wrong_value": _digits(min(off)) if off else None,
        "wrong_on_some_meshes_only": sorted(one_mesh),
        "used": {name: _digits(used) for name, (used, _) in limits.items()},
        "proposed_limits": {name: proposal for name, (_, proposal) in limits.items()},
    }


def _judge_again(
    package: Package, grader: AuthorJudge, context: Context, number: int
) -> tuple[Verdict, PackageStudy | None]:
    seen: list[PackageStudy] = []
    # In call mode, each attempt has hidden inputs of its own.
    verdict = grader.judge(package, package.reference, context, draw=f"check {number}", watch=seen.append)
    return verdict, seen[-1] if seen else None


def _judge_reordered(package: Package, grader: AuthorJudge, context: Context) -> list[PackageFault]:
    """Whether the reference is accepted with the keys of its dicts in another order, which `jax.jit` gives them."""
    if package.manifest.mode != "call":  # a program's leaves are named by their paths
        return []
    verdict = grader.judge(package, with_keys_reversed(package.reference, package.manifest.entry), context)
    if verdict.status == "accepted":
        return []
    why = next((f" {each.title}: {each.message}" for each in verdict.checks if not each.passed), "")
    return [PackageFault("key-order", "reference.py", None, f"with its keys reversed it is {verdict.status}.{why}")]


def _errors(package: Package, source: str, grader: AuthorJudge, seed: int) -> dict[str, float]:
    """The errors of an accepted submission on other inputs; none if it cannot be run on them."""
    seen: list[PackageStudy] = []
    grader.judge(package, source, QUIET, hidden=False, own=OwnInputs(seed), watch=seen.append)
    return {mesh: error for each in seen for mesh, error in each.errors.items() if math.isfinite(error)}


def _answers(package: Package, grader: AuthorJudge, context: Context) -> list[PackageFault]:
    answers = grader.answers(package, context)
    changed: dict[str, Answers] = {}
    for name, case in with_changed_input(answers.cases).items():
        try:
            changed[name] = grader.answers(package, context, [case])
        except GraderFault:  # the reference does not take this value, so it depends on it
            continue
    hidden = [case.inputs for case in answers.cases if not case.public]
    found = [PackageFault("unvaried-input", "cases.py", None, fault) for fault in unvaried(package, hidden)]
    return [*found, *of_answers(answers, changed, package.manifest.tolerances)]


def _is_right(file: str) -> bool:
    return file == "reference.py" or file.startswith("submissions/accepted/")


def _worst(study: PackageStudy | None) -> float:
    return max(study.errors.values(), default=0.0) if study else 0.0


def _differs(one: Array, other: Array | None, tolerances: dict[str, Tolerance], path: str) -> bool:
    return excess(one, other, tolerances, path) > 1


def _may_be_constant(leaf: Array) -> bool:
    """A count of steps, such as an optimizer's."""
    return leaf.size <= 1 and leaf.dtype.kind in "iub"


def _passes_narrowed(results: Any, tolerances: dict[str, Tolerance]) -> str | None:
    """The narrower dtype to which every result can be rounded unnoticed; None if rounding it is noticed."""
    name = None
    for path, leaf in (each for values in results for each in values.items()):
        narrow = _NARROWER.get(leaf.dtype.name)
        if narrow is None:
            continue
        rounded = leaf.astype(narrow).astype(leaf.dtype)
        if _differs(leaf, rounded, tolerances, path):
            return None
        if not np.array_equal(leaf, rounded, equal_nan=True):
            name = np.dtype(narrow).name
    return name


def _digits(value: float) -> float:
    return float(f"{value:.3g}")
