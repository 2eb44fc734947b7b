"""Find what a manifest says that contradicts itself, or that no check understands."""

import math
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

from pydantic import BaseModel, ValidationError

from grader import checks
from grader.core.wire import DTYPES
from grader.package.fault import PackageFault, manifest_fault
from grader.package.package import AnswerManifest, CheckSpec, Manifest, VariantSpec
from grader.package.variants import MODULE, variants_of
from grader.review.names import no_axis, suggest


def contradictions(manifest: Manifest, slug: str | None) -> list[PackageFault]:
    """The faults of a manifest whose keys are right. Also reads the bounds of its checks.

    Args:
      slug: the slug that it must have; None if any slug is right.
    """
    faults = []
    if slug is not None and manifest.slug != slug:
        message = f"slug is '{manifest.slug}', but the folder is called '{slug}'"
        faults.append(manifest_fault("manifest", "slug", message))
    ids = [check.id for check in manifest.checks]
    for number, check in enumerate(manifest.checks):
        faults += _faults_of_check(manifest, number, check)
    faults += _faults_of_program(manifest)
    if isinstance(manifest, AnswerManifest):
        faults += _faults_of_answers(manifest)
    faults += [manifest_fault("manifest", *each) for each in _faults_of_variants(manifest)]
    if len(set(ids)) != len(ids):
        faults.append(manifest_fault("check", "checks", "a check is listed twice"))
    if "values" not in ids:
        message = "the check 'values' is missing: without it any output would pass"
        faults.append(manifest_fault("check", "checks", message))
    points = sum(check.points for check in manifest.checks)
    if points != 100:
        faults.append(manifest_fault("points", "checks", f"the points of the checks add up to {points}, not 100"))
    for name in manifest.tolerance:
        if name not in DTYPES:
            message = f"unknown dtype in tolerance: '{name}'{suggest(name, list(DTYPES))}"
            faults.append(manifest_fault("manifest", f"tolerance.{name}", message))
    return faults + _faults_of_output_tolerances(manifest)


def _faults_of_output_tolerances(manifest: Manifest) -> list[PackageFault]:
    if isinstance(manifest, AnswerManifest) and manifest.output_tolerances:
        message = "[[output_tolerances]] belongs to the modes call and program"
        return [manifest_fault("manifest", "output_tolerances", message)]
    return [
        manifest_fault(
            "manifest",
            f"output_tolerances.{number}.dtype",
            f"unknown dtype in output_tolerances: '{each.dtype}'{suggest(each.dtype, list(DTYPES))}",
        )
        for number, each in enumerate(manifest.output_tolerances)
        if each.dtype is not None and each.dtype not in DTYPES
    ]


def _faults_of_check(manifest: Manifest, number: int, check: CheckSpec) -> list[PackageFault]:
    known = checks.names(manifest.mode)
    if check.id not in known:
        message = f"there is no check '{check.id}' in {manifest.mode} mode{suggest(check.id, known)}"
        return [manifest_fault("check", f"checks.{number}", message)]
    model = checks.load(manifest.mode, check.id).Bounds
    try:
        check.read_bounds(model)
    except ValidationError as error:
        return [_explain_bound(number, check.id, fault, model) for fault in error.errors()]
    return _faults_of_parts(number, check)


def _explain_bound(number: int, check: str, fault: Any, model: type[BaseModel]) -> PackageFault:
    where = ".".join(str(part) for part in fault["loc"])
    message = f"check '{check}': {where}: {fault['msg']}"
    if fault["type"] == "extra_forbidden":
        hint = suggest(where, ["points", "title", "means", *model.model_fields])
        message = f"unknown key '{where}' in check '{check}'{hint}"
    return manifest_fault("check", f"checks.{number}.{where}", message)


def _faults_of_parts(number: int, check: CheckSpec) -> list[PackageFault]:
    parts = check.bounds.model_dump().get("parts") or []
    points, titles = sum(part["points"] for part in parts), [part["title"] for part in parts]
    faults = []
    if points > check.points:
        message = f"check '{check.id}': its parts are worth {points} points together, and the check {check.points}"
        faults.append(manifest_fault("points", f"checks.{number}.parts", message))
    if len(set(titles)) < len(titles):
        message = f"check '{check.id}': two parts have the same title"
        faults.append(manifest_fault("check", f"checks.{number}.parts", message))
    return faults


def _faults_of_program(manifest: Manifest) -> list[PackageFault]:
    if manifest.mode != "program":
        return []
    program = manifest.program
    faults = []
    if program.export_init and not program.init:
        message = "program.export_init requires program.init"
        faults.append(manifest_fault("manifest", "program.export_init", message))
    for number, check in enumerate(manifest.checks):
        if check.id == "init_memory" and not program.export_init:
            message = "the check 'init_memory' needs program.export_init = true"
            faults.append(manifest_fault("check", f"checks.{number}", message))
    axes = list(program.meshes[0])
    sizes = [math.prod(mesh.values()) for mesh in program.meshes]
    if any(list(mesh) != axes for mesh in program.meshes):
        message = "program.meshes: all meshes must have the same axes, in the same order"
        faults.append(manifest_fault("manifest", "program.meshes", message))
    is_repeated = any(mesh in program.meshes[:number] for number, mesh in enumerate(program.meshes))
    # On one device, collectives vanish or have groups of one. So a mesh of one device must be the only mesh, and the
    # problem not about communication.
    if sizes != [1] and (
        len(set(sizes)) < 2 or is_repeated or not all(2 <= size <= manifest.devices for size in sizes)
    ):
        message = (
            "program.meshes: give two meshes or more, each of them once, with two or more sizes between 2 and "
            f"{manifest.devices}, the number of devices; here the sizes are {sizes}. A problem about one device has a "
            "single mesh of size 1"
        )
        faults.append(manifest_fault("manifest", "program.meshes", message))
    for name, spec in program.inputs.items():
        key = f"program.inputs.{name}"
        used = [axis for dim in spec for axis in ([dim] if isinstance(dim, str) else dim) if axis]
        for axis in used:
            if axis not in axes:
                faults.append(manifest_fault("name", key, f"{key}: {no_axis(axis, axes)}"))
        if len(set(used)) != len(used):
            faults.append(manifest_fault("manifest", key, f"{key}: a mesh axis is used twice"))
    return faults


def _faults_of_variants(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the key and the message of each fault."""
    variants = variants_of(manifest)
    if len(variants) == 1:
        yield "variants", "variants: there is one. Write 2 to 16, or write its values into the files"
    if variants and manifest.slug == MODULE:
        yield "slug", f"slug: with variants, '{MODULE}' is the module that has their values"
    names: set[str] = set()
    seen: dict[tuple[object, ...], str] = {}
    for number, each in enumerate(variants):
        key = f"variants.{number}"
        if each.name in names:
            yield key, f"variants: the name '{each.name}' occurs twice"
        names.add(each.name)
        for name in each.values:
            if iskeyword(name) or name.startswith("_"):
                yield key, f"{key}.values: '{name}' is not a name that code can import"
        if _kinds(each) != _kinds(variants[0]):
            first = ", ".join(f"{name} ({kind})" for name, kind in _kinds(variants[0]).items())
            yield key, f"{key}.values: all variants have the same names and types, those of the first: {first}"
        same = seen.setdefault(tuple(sorted(each.values.items())), each.name)
        if same != each.name:
            yield key, f"{key}.values: '{each.name}' has the same values as '{same}'"


def _kinds(variant: VariantSpec) -> dict[str, str]:
    words = {int: "whole number", float: "number with a point", str: "text"}
    return {name: words[type(value)] for name, value in sorted(variant.values.items())}


def _faults_of_answers(manifest: AnswerManifest) -> list[PackageFault]:
    ids = [each.id for each in manifest.answers]
    return [
        manifest_fault("manifest", "answers", f"answers: the id '{each}' occurs twice")
        for each in sorted(set(ids))
        if ids.count(each) > 1
    ]
