"""Read a problem folder, or list all of its faults."""

import ast
import hashlib
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from grader.checks.call import values
from grader.checks.program import collectives
from grader.core.reasons import REASONS, Reason
from grader.core.toml import TomlInvalid, read_toml
from grader.package.budget import BUDGET, Budget, budget_text, measured_from
from grader.package.ceiling import Ceiling
from grader.package.fault import MANIFEST_FILE, PackageFault, PackageInvalid, manifest_fault
from grader.package.package import (
    MANIFEST,
    MANIFESTS,
    AnswerManifest,
    AnswerSpec,
    CheckSpec,
    InputSpec,
    KnownSubmission,
    Limits,
    Manifest,
    MeshSpec,
    OutputTolerance,
    Package,
    ProgramSpec,
    Tolerance,
    VariantSpec,
)
from grader.package.pictures import PICTURES
from grader.package.pitfalls import formulas_in, marks_of, without_marks
from grader.package.variants import first_variant
from grader.review.contradictions import contradictions
from grader.review.figures import wrong_figures
from grader.review.helper_files import FOLDER, helpers_in, wrong_helpers
from grader.review.names import suggest, unknown_names
from grader.review.variant_use import named_variants, wrong_variants
from grader.verdicts.fingerprint import KnownFingerprints
from grader.verdicts.pictures import Pictures

MAX_FILE_BYTES = 1 << 20
# Fingerprints of the rejected submissions. They are computed from the other files, so they are not part of a version.
KNOWN = "known.json"
# This file decides whether results are right, if the check `values` has `custom = true`.
CHECK = "check.py"
_TEXTS = ("statement.md", "hints.md", "editorial.md")
_CODE_FILES = (*_TEXTS, "starter.py", "reference.py", "cases.py")
_ANSWER_FILES = (*_TEXTS, "question.md", "questions.py", "mistakes.py", "explanation.md")
M = TypeVar("M", bound=BaseModel)
_MODELS: dict[str, type[BaseModel]] = {
    "limits": Limits,
    "checks": CheckSpec,
    "tolerance": Tolerance,
    "output_tolerances": OutputTolerance,
    "program": ProgramSpec,
    "inputs": InputSpec,
    "variants": VariantSpec,
    "answers": AnswerSpec,
    "mesh": MeshSpec,
}
# The first string of a file, after comments, found in linear time even if it never ends.
_DOCSTRING = re.compile(
    r"""(?:\s++|\#[^\n]*+)*+[rRuU]?
    (?:\"""(?:[^"\\]++|\\.|"(?!""))*+\"""|'''(?:[^'\\]++|\\.|'(?!''))*+'''
    |"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')""",
    re.VERBOSE | re.DOTALL,
)
_IN_FOLDERS = (
    r"figures/[a-z0-9_]+\.svg|helpers/[a-z][a-z0-9_]*\.py|submissions/(accepted|rejected/[a-z_]+)/[a-z0-9_]+\.py"
)
_NO_MODE = ("union_tag_not_found", "union_tag_invalid")


def read_package(folder: Path, ceiling: Ceiling | None = None) -> Package:
    """Read and validate a problem folder.

    Args:
      ceiling: the highest limits that it can set; None if none of its code will run.
    Raises:
      PackageInvalid: the package is not valid. The error has all of its faults.
    """
    if not (folder / "problem.toml").is_file():
        missing = PackageFault("missing-file", MANIFEST_FILE, None, f"it does not contain a {MANIFEST_FILE}")
        raise PackageInvalid(str(folder), [missing])
    faults: list[PackageFault] = []
    files = read_files(folder, faults)
    return _assemble(folder.name, files, str(folder), faults, ceiling)


def package_of(
    slug: str | None, files: dict[str, str], ceiling: Ceiling | None = None, *, is_stored: bool = False
) -> Package:
    """Validate a package from the texts of its files.

    Args:
      slug: the slug that its manifest must have; None if any slug is right.
      files: texts by path, as in `Package.files`.
      ceiling: as in `read_package`; None for a stored version.
      is_stored: it is a stored version. Names and figures are not validated again, so that rules that are newer than
        the version do not affect its attempts.
    Raises:
      PackageInvalid: as in `read_package`.
    """
    faults: list[PackageFault] = []
    for name, text in files.items():
        if not _belongs(name):
            faults.append(_misplaced(name))
        elif len(text.encode()) > MAX_FILE_BYTES:
            faults.append(_too_long(name))
    return _assemble(slug, dict(sorted(files.items())), slug or "this", faults, ceiling, is_stored=is_stored)


def _assemble(
    slug: str | None,
    files: dict[str, str],
    where: str,
    faults: list[PackageFault],
    ceiling: Ceiling | None,
    *,
    is_stored: bool = False,
) -> Package:
    manifest = _read_manifest(slug, files.get("problem.toml", ""), faults)
    if manifest is not None and ceiling is not None:
        faults += ceiling.faults(manifest.limits)
    if not is_stored:
        faults += [*_short_wall(manifest.limits), *unknown_names(manifest, files)] if manifest else []
        faults += [*wrong_figures(files), *wrong_helpers(files, manifest.slug if manifest else "")]
    is_answered = isinstance(manifest, AnswerManifest)
    for name in _ANSWER_FILES if is_answered else _CODE_FILES:
        if not files.get(name, "").strip():
            faults.append(PackageFault("missing-file", name, None, f"{name} is missing or empty"))
    if manifest is not None:
        faults += _of_another_mode(manifest, files)
        faults += _faults_of_custom_check(manifest, files)
    files, known = _computed(files, KNOWN, KnownFingerprints, faults)
    files, pictures = _computed(files, PICTURES, Pictures, faults)
    budget = _budget(files, faults)
    accepted = () if is_answered else _known(files, "submissions/accepted/", faults)
    rejected = () if is_answered else _known(files, "submissions/rejected/", faults)
    if manifest is not None:
        faults += wrong_variants(manifest, files, (*accepted, *rejected))
    pitfalls = _pitfalls(files, rejected, faults, is_answered=is_answered)
    if faults or manifest is None:
        raise PackageInvalid(where, faults)
    package = Package(
        manifest=manifest,
        version=_version(files),
        statement=without_marks(files["statement.md"]),
        hints=_hints(files["hints.md"]),
        editorial=files["editorial.md"],
        starter=_empty_answers(manifest) if isinstance(manifest, AnswerManifest) else files["starter.py"],
        reference=files.get("reference.py", ""),
        cases=files.get("cases.py", ""),
        accepted=accepted,
        rejected=rejected,
        warmup=files.get("warmup.py", ""),
        check=files.get(CHECK, ""),
        figures={name.removeprefix("figures/"): text for name, text in files.items() if name.startswith("figures/")},
        helpers=helpers_in(files),
        files=files,
        known=known,
        pictures=pictures,
        budget=budget,
        pitfalls=pitfalls,
    )
    return first_variant(package)


def _short_wall(limits: Limits) -> list[PackageFault]:
    """The fault if the limit on wall-clock time is too close to the limit on CPU time for a busy machine."""
    least = 2 * limits.time_s
    if limits.wall_s >= least:
        return []
    message = (
        f"limits.wall_s is {limits.wall_s:g}; it must be at least twice limits.time_s, because a busy machine takes "
        f"longer. Set it to {least:g} or more"
    )
    return [manifest_fault("limit", "limits.wall_s", message)]


def read_files(folder: Path, faults: list[PackageFault]) -> dict[str, str]:
    """Read the text of every file in a package's folder, by path. Add what is wrong to `faults`."""
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if "__pycache__" in path.parts or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file():
            message = f"{name} is not a plain file: links and devices are not followed"
            faults.append(PackageFault("unreadable-file", name, None, message))
        elif path.stat().st_size > MAX_FILE_BYTES:
            faults.append(_too_long(name))
        elif not _belongs(name):
            faults.append(_misplaced(name))
        else:
            try:
                # Drop the byte order mark that some editors write, which Python and TOML do not accept inside text.
                files[name] = path.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                faults.append(PackageFault("unreadable-file", name, None, f"{name} is not UTF-8 (byte {error.start})"))
    return files


def _too_long(name: str) -> PackageFault:
    return PackageFault("unreadable-file", name, None, f"{name} is over {MAX_FILE_BYTES >> 20} MiB")


def _misplaced(name: str) -> PackageFault:
    hint = suggest(name, [MANIFEST_FILE, *_CODE_FILES, *_ANSWER_FILES])
    return PackageFault("misplaced-file", name, None, f"{name} does not belong in a package{hint}")


def _belongs(name: str) -> bool:
    if name in ("problem.toml", "warmup.py", CHECK, KNOWN, BUDGET, PICTURES, *_CODE_FILES, *_ANSWER_FILES):
        return True
    return bool(re.fullmatch(_IN_FOLDERS, name))


def _of_another_mode(manifest: Manifest, files: dict[str, str]) -> list[PackageFault]:
    if isinstance(manifest, AnswerManifest):
        others = {name for name in files if name.startswith(("submissions/", FOLDER))}
        others |= {"warmup.py", CHECK, KNOWN, BUDGET, PICTURES, *_CODE_FILES}
        others -= set(_ANSWER_FILES)
    else:
        others = set(_ANSWER_FILES) - set(_CODE_FILES)
        others |= {CHECK} if manifest.mode == "program" else {BUDGET}
    message = f"does not belong in a package of {manifest.mode} mode"
    return [PackageFault("misplaced-file", name, None, f"{name} {message}") for name in files if name in others]


def _computed(
    files: dict[str, str], name: str, model: type[M], faults: list[PackageFault]
) -> tuple[dict[str, str], M | None]:
    """Take out a file that is computed from the others; None if it is missing."""
    text = files.get(name)
    if text is None:
        return files, None
    others = {path: each for path, each in files.items() if path != name}
    return others, _written_by_check(name, text, model, faults)


def _budget(files: dict[str, str], faults: list[PackageFault]) -> Budget | None:
    text = files.get(BUDGET)
    return None if text is None else _written_by_check(BUDGET, text, Budget, faults)


def _written_by_check(name: str, text: str, model: type[M], faults: list[PackageFault]) -> M | None:
    try:
        return model.model_validate_json(text)
    except ValidationError:
        message = f"{name} is not what `meshgrade problem check` writes. Delete it, and run that again"
        faults.append(PackageFault("misplaced-file", name, None, message))
        return None


def with_budget(package: Package, budget: Budget) -> Package:
    """Return the package with another budget.json, and so with another version."""
    files = {**package.files, BUDGET: budget_text(budget)}
    template = package.template and with_budget(package.template, budget)
    return replace(package, budget=budget, files=files, version=_version(files), template=template)


def has_budget(manifest: Manifest) -> bool:
    """Whether budget.json bounds what submissions send: devices can communicate, and a check counts it."""
    if manifest.mode != "program" or all(math.prod(mesh.values()) == 1 for mesh in manifest.program.meshes):
        return False
    return any(isinstance(check.bounds, collectives.Bounds) for check in manifest.checks)


def measured(package: Package) -> str:
    """Return what a current budget.json was measured from; see `Budget.of`."""
    manifest = package.manifest
    program = manifest.program.model_dump_json(exclude={"groups"}) if manifest.mode == "program" else ""
    return measured_from(f"{manifest.entry} {manifest.devices} {program}", package.files)


def _faults_of_custom_check(manifest: Manifest, files: dict[str, str]) -> list[PackageFault]:
    bounds = next((check.bounds for check in manifest.checks if check.id == "values"), None)
    is_custom = isinstance(bounds, values.Bounds) and bounds.custom
    if is_custom and not files.get(CHECK, "").strip():
        message = f"{CHECK} is missing or empty, and the check 'values' has custom = true"
        return [PackageFault("missing-file", CHECK, None, message)]
    if manifest.mode == "call" and CHECK in files and not is_custom:
        return [PackageFault("misplaced-file", CHECK, None, f"{CHECK} is for a check 'values' with custom = true")]
    if isinstance(bounds, values.Bounds) and is_custom and bounds.parts:
        return [manifest_fault("check", "checks", "the check 'values' has either custom = true or parts, not both")]
    return []


def _empty_answers(manifest: AnswerManifest) -> str:
    """The JSON that a student fills in."""
    empty = {
        spec.id: [["" for _ in spec.columns] for _ in spec.rows] if spec.kind == "table" else ""
        for spec in manifest.answers
    }
    return json.dumps(empty, indent=2) + "\n"


def _read_manifest(slug: str | None, text: str, faults: list[PackageFault]) -> Manifest | None:
    try:
        raw = read_toml(text)
    except TomlInvalid as error:
        faults.append(PackageFault("toml", MANIFEST_FILE, error.line, f"{MANIFEST_FILE} is not TOML: {error}"))
        return None
    try:
        manifest = MANIFEST.validate_python(raw)
    except ValidationError as error:
        faults += _explain_all(raw, error)
        return None
    faults += contradictions(manifest, slug)
    return manifest


def _explain_all(raw: dict[str, Any], error: ValidationError) -> list[PackageFault]:
    """Explain every fault of a manifest. If its mode is missing or unknown, the mode is guessed from its tables."""
    if all(fault["type"] not in _NO_MODE for fault in error.errors()):
        return [_explain(fault) for fault in error.errors()]
    mode, modes = raw.get("mode"), list(MANIFESTS)
    name = str(mode)[:40]
    fault = f"there is no mode '{name}'{suggest(name, modes)}" if "mode" in raw else "it is missing"
    message = f"mode: {fault}. Write one of {', '.join(repr(each) for each in modes)}"
    faults = [manifest_fault("manifest", "mode", message)]
    try:
        likely = next((each for each, table in (("program", "program"), ("answer", "answers")) if table in raw), "call")
        MANIFEST.validate_python(raw | {"mode": likely})
    except ValidationError as others:
        faults += [_explain(fault) for fault in others.errors()]
    return faults


def _explain(fault: Any) -> PackageFault:
    mode, *rest = fault["loc"]
    path = [str(part) for part in rest]
    key = ".".join(path)
    message = f"{key}: {fault['msg']}"
    if path == ["program"] and fault["type"] == "missing":
        key, message = "mode", "mode program needs a table [program]"
    elif path == ["program"] and fault["type"] == "extra_forbidden":
        message = "[program] belongs to mode program"
    elif path[0] == "variants" and fault["type"] in ("int_type", "list_type"):
        message = (
            "[[variants]] belongs to the modes call and program; `variants = 64`, a number of questions, to mode answer"
        )
    elif fault["type"] == "extra_forbidden":
        known = _MODELS.get(path[0], MANIFESTS[mode]).model_fields
        message = f"unknown key '{key}'{suggest(path[-1], list(known))}"
    return manifest_fault("manifest", key, message)


def _known(files: dict[str, str], prefix: str, faults: list[PackageFault]) -> tuple[KnownSubmission, ...]:
    found = []
    for name, source in files.items():
        if not name.startswith(prefix):
            continue
        reason = _reason(name, faults)
        text = _first_docstring(source)
        if not text:
            message = "its first line must be a docstring that states what its author believed"
            faults.append(PackageFault("misconception", name, None, message))
        short = name.removeprefix(prefix).removesuffix(".py")
        found.append(KnownSubmission(short, source, reason, text, named_variants(source)))
    if not found:
        faults.append(PackageFault("submissions", prefix, None, f"{prefix} does not contain a submission"))
    return tuple(found)


def _pitfalls(
    files: dict[str, str], rejected: tuple[KnownSubmission, ...], faults: list[PackageFault], *, is_answered: bool
) -> dict[str, int]:
    """Return the number of the pitfall for each known mistake that the statement names."""
    missing = "mistakes.py has no function {}" if is_answered else "there is no submissions/rejected/{}.py"
    names = list(formulas_in(files.get("mistakes.py", ""))) if is_answered else [each.name for each in rejected]
    found: dict[str, int] = {}
    for mark in marks_of(files.get("statement.md", "")):
        message = None
        if mark.mistake not in names:
            message = missing.format(mark.mistake) + suggest(mark.mistake, names)
        elif mark.mistake in found:
            message = f"two pitfalls name '{mark.mistake}'"
        elif mark.number is None:
            message = f"'{mark.mistake}' is named elsewhere than at the end of an item of ## Pitfalls"
        else:
            found[mark.mistake] = mark.number
        if message is not None:
            faults.append(PackageFault("pitfall", "statement.md", mark.line, message))
    return found


def _reason(name: str, faults: list[PackageFault]) -> Reason | None:
    parts = name.split("/")
    if parts[1] == "accepted":
        return None
    for reason in REASONS:
        if reason == parts[2]:
            return reason
    message = f"'{parts[2]}' is not a reason{suggest(parts[2], list(REASONS))}"
    faults.append(PackageFault("reason", name, None, message))
    return None


def _first_docstring(source: str) -> str:
    # Don't parse the whole file, which can be long, or have a syntax error on purpose.
    begin = _DOCSTRING.match(source)
    try:
        return " ".join((ast.get_docstring(ast.parse(begin[0])) or "").split()) if begin else ""
    except (SyntaxError, ValueError):
        return ""


def _hints(text: str) -> tuple[str, ...]:
    parts = re.split(r"^## .*$", text, flags=re.MULTILINE)
    return tuple(part.strip() for part in parts[1:] if part.strip())


def _version(files: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        for part in (name, text):
            data = part.encode()
            # Hash the lengths first, so that two packages never produce the same bytes.
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
