"""Find the known wrong submission that makes the same mistake as a rejected one.

A package ships a fingerprint of each one on the public cases (known.json), so recognising a mistake is usually a
look-up. Known submissions are run only if several share the fingerprint, if the public cases do not show the mistake,
or if a fingerprint is missing.
"""

import ast
import hashlib
import importlib.metadata
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import numpy as np

from grader.checks.compare import compare, tolerance_of
from grader.core.reasons import REASONS, Reason
from grader.mistakes.likeliest_mistake import by_likelihood
from grader.package.package import KnownSubmission, Package, Tolerance
from grader.package.variants import every_variant
from grader.verdicts.fingerprint import Fingerprint, KnownFingerprint, KnownFingerprints, Sketch, numbers_of

# Run at most this many known submissions to explain one rejection.
RUNS = 3
# The tolerance of elements close to zero, relative to a sketch's largest number: about 8 units in the last place of
# float32, by which another order of summation can change them.
_ROUNDING = 1e-6
# An index in the path of a sketch. Its brackets do not occur in the path of an output.
_INDEX = re.compile(r"(?<![^/])[\[(](\d+)[\])](?![^/])")
IsSame = Callable[[KnownSubmission], bool]


def runnable(package: Package) -> list[KnownSubmission]:
    """The rejected submissions that return a result or, in program mode, have a program."""
    return [each for each in package.rejected if each.reason and REASONS[each.reason].has_program]


class KnownMistakes:
    """Compares one submission with the known wrong submissions of its package.

    Args:
      runs: run at most this many of them.
    """

    def __init__(self, package: Package, source: str, *, runs: int = RUNS) -> None:
        self._package = package
        self._source = source
        self._runs = runs

    def explain(self, mine: Fingerprint, reason: Reason | None, is_same: IsSame, *, has_more: bool) -> str | None:
        """Return the misunderstanding of the known submission that does the same, the likeliest if several do.

        Args:
          mine: the fingerprint of the submission.
          reason: why it was rejected; it tells apart mistakes whose programs look like the reference's.
          is_same: runs a known submission and compares it on all cases.
          has_more: whether there are cases besides the public ones.
        """
        if not (mine.results or mine.pattern):
            return None
        shipped, tolerances = current(self._package), self._package.manifest.tolerances
        by_result = bool(mine.results)
        alike = [
            each
            for each in runnable(self._package)
            if each.name in shipped
            and is_alike(shipped[each.name], mine, tolerances)
            and (by_result or mine.shown or each.reason == reason)
        ]
        left = alike or [
            each
            for each in runnable(self._package)
            if each.name not in shipped and (each.reason == reason or _has_wrong_result(each) == by_result)
        ]
        is_settled = mine.shown and (not by_result or len({each.misunderstanding for each in alike}) == 1)
        if alike and (is_settled or not has_more):
            return by_likelihood(self._source, left)[0].misunderstanding
        for each in by_likelihood(self._source, left)[: self._runs] if self._runs else ():
            if is_same(each):
                return each.misunderstanding
        return None


def explain_stored(package: Package, source: str, mine: Fingerprint) -> str | None:
    """Like `KnownMistakes.explain`, for an attempt that was graded earlier: runs and guesses nothing."""
    if not mine.shown:
        return None
    return KnownMistakes(package, source, runs=0).explain(mine, None, lambda _: False, has_more=True)


def is_alike(known: Fingerprint, mine: Fingerprint, tolerances: dict[str, Tolerance]) -> bool:
    """Whether two fingerprints show the same mistake.

    Programs are compared if both fingerprints have them. `init` counts only if `mine` has it, which means that the
    steps are built like the reference's.
    """
    if mine.results:
        return known.results.keys() == mine.results.keys() and all(
            _is_close(known.results[name], mine.results[name], tolerances) for name in mine.results
        )
    names = known.pattern.keys() & mine.pattern.keys()
    return bool(names) and all(mine.pattern[name].items() <= known.pattern[name].items() for name in names)


def current(package: Package) -> Mapping[str, KnownFingerprint]:
    """The shipped fingerprints that are still valid for this version of JAX and the package's files."""
    known = package.known
    if known is None or known.jax != importlib.metadata.version("jax"):
        return {}
    public = _public_part(package.cases)
    variant = package.variant_name
    return {
        each.name: shipped
        for each in runnable(package)
        if (shipped := known.mistakes.get(stored_name(each.name, variant)))
        and shipped.of == _depends_on(package, public, each)
    }


def stored_name(name: str, variant: str | None) -> str:
    """The name of a fingerprint in known.json. The same mistake in another variant has other results."""
    return name if variant is None else f"{variant}:{name}"


def updated(package: Package, found: Mapping[str, Fingerprint | None]) -> KnownFingerprints:
    """Return the package's fingerprints, of all variants, with those in `found` replaced.

    A shipped fingerprint that agrees within the tolerance stays, so machines do not rewrite each other's rounding.

    Args:
      found: new fingerprints by `stored_name` of the known wrong submission; None if it had neither result nor program.
    """
    mistakes = {name: one for each in every_variant(package) for name, one in _updated(each, found)}
    return KnownFingerprints(jax=importlib.metadata.version("jax"), mistakes=mistakes)


def _updated(package: Package, found: Mapping[str, Fingerprint | None]) -> Iterator[tuple[str, KnownFingerprint]]:
    kept = current(package)
    public = _public_part(package.cases)
    for each in runnable(package):
        name = stored_name(each.name, package.variant_name)
        old, new = kept.get(each.name), found.get(name)
        if name in found and not (old and holds(package, old, new)):
            stored = {} if new is None else new.stored()
            yield name, KnownFingerprint.model_validate({**stored, "of": _depends_on(package, public, each)})
        elif old:
            yield name, old


def holds(package: Package, shipped: Fingerprint, found: Fingerprint | None) -> bool:
    """Whether a new fingerprint agrees with the shipped one, within the tolerance."""
    found = found or Fingerprint()
    if not (found.results or found.pattern):
        return not (shipped.results or shipped.pattern)
    return bool(shipped.results) == bool(found.results) and is_alike(shipped, found, package.manifest.tolerances)


def known_text(known: KnownFingerprints) -> str:
    """The text of known.json, one known mistake per line."""
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps({'of': each.of, **each.stored()}, separators=(',', ':'))}"
        for name, each in known.mistakes.items()
    )
    return f'{{\n "jax": {json.dumps(known.jax)},\n "mistakes": {{\n{lines}\n }}\n}}\n'


def _has_wrong_result(submission: KnownSubmission) -> bool:
    return submission.reason is not None and REASONS[submission.reason].wrong_result


def _is_close(known: Sketch, mine: Sketch, tolerances: dict[str, Tolerance]) -> bool:
    if known.keys() != mine.keys():
        return False
    for path, text in known.items():
        if text == mine[path]:
            continue
        (kind, theirs), (other, numbers) = numbers_of(text), numbers_of(mine[path])
        if kind != other or theirs is None or numbers is None or len(theirs) != len(numbers):
            return False
        dtype = kind.partition("[")[0]
        given = tolerance_of("float32" if dtype == "float" else dtype, tolerances, _INDEX.sub(r"\1", path))
        largest = max((abs(each) for each in theirs if math.isfinite(each)), default=0.0)
        allowed = {"float64": Tolerance(rtol=given.rtol, atol=given.atol + _ROUNDING * largest)}
        if compare(np.asarray(theirs), np.asarray(numbers), allowed) is not None:
            return False
    return True


def _depends_on(package: Package, public: str, submission: KnownSubmission) -> str:
    manifest = package.manifest
    parts = [manifest.mode, manifest.entry, str(manifest.devices), public, submission.source]
    if manifest.mode == "program":
        # The default of `axis_types` is left out, so that a digest says only what a manifest sets.
        left_out = {"groups", *({"axis_types"} if manifest.program.axis_types == "auto" else ())}
        parts.append(manifest.program.model_dump_json(exclude=left_out))
    if manifest.mode == "call" and manifest.arguments:
        parts += [f"{name}: {kind}" for name, kind in sorted(manifest.arguments.items())]
    parts += [part for helper in sorted(package.helpers.items()) for part in helper]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return digest.hexdigest()[:16]


# Cached, because every rejected attempt of a problem needs it.
@lru_cache(maxsize=256)
def _public_part(cases: str) -> str:
    """The part of cases.py that the public cases come from: all of it except what only `hidden_cases` uses.

    This is its text, not its values, whose last digits differ between processors.
    """
    try:
        body = ast.parse(cases).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return cases
    # Leave out docstrings and other bare strings.
    body = [node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    defined = {name: node for node in body for name in _names_of(node)}
    always = [node for node in body if not _names_of(node)]
    used, left = set[str](), ["public_cases", *(name for node in always for name in _names_in(node))]
    while left:
        name = left.pop()
        if name in defined and name not in used:
            used.add(name)
            left += _names_in(defined[name])
    parts = [node for node in body if node in always or used & set(_names_of(node))]
    return "\n".join(ast.get_source_segment(cases, node) or "" for node in parts)


def _names_of(node: ast.stmt) -> list[str]:
    """The names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    return []


def _names_in(node: ast.stmt) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
