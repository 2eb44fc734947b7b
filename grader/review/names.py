"""Check that the names in a manifest exist: mesh axes, inputs, groups, functions, other problems, reference leaves.

If a rule names a misspelt axis or input, its check matches nothing, so every submission passes it.
"""

import ast
import builtins
import difflib
import math
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any
from uuid import UUID

from grader.checks.source_names import full_name
from grader.checks.topology import AlsoOnChips, FullSizeBounds, slices_in
from grader.core.chips import slice_of
from grader.core.installed_modules import is_installed
from grader.package.fault import PackageFault, manifest_fault
from grader.package.package import AnswerManifest, CheckSpec, Manifest, ProgramManifest

# Comparing takes time in proportion to the length of the name and the number of others.
_LONGEST_COMPARED, _MOST_COMPARED = 64, 500
_GLOB = re.compile(r"[*?\[/]")


def suggest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a message; empty if none is close."""
    close = difflib.get_close_matches(name[:_LONGEST_COMPARED], islice(known, _MOST_COMPARED), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def unknown_names(manifest: Manifest, files: Mapping[str, str]) -> list[PackageFault]:
    """Find every name in the manifest that the package does not define.

    Args:
      files: the text of the package's files by path.
    """
    faults = _unknown_functions(manifest, files)
    if manifest.slug in manifest.prerequisites:
        message = "prerequisites: a problem cannot be its own prerequisite"
        faults.append(manifest_fault("prerequisite", "prerequisites", message))
    if isinstance(manifest, AnswerManifest):
        return faults
    arguments = arguments_of(manifest, files.get("reference.py", ""))
    if manifest.mode != "program":
        named = [("inputs", name) for name in manifest.inputs] + [("arguments", name) for name in manifest.arguments]
        unknown = [f"{table}.{name}" for table, name in named if arguments is not None and name not in arguments]
        faults += [_unknown_input(key, manifest, arguments or []) for key in unknown]
        return faults + [
            fault for number, check in enumerate(manifest.checks) for fault in _unknown_modules(number, check)
        ]
    if arguments is not None:
        for name in manifest.program.inputs:
            if not _is_one_of(name, arguments):
                faults.append(_unknown_input(f"program.inputs.{name}", manifest, arguments))
    for number, check in enumerate(manifest.checks):
        faults += _unknown_in_check(manifest, number, check, arguments)
    return faults


def unknown_prerequisites(manifest: Manifest, slugs: Iterable[str]) -> list[PackageFault]:
    """Find prerequisites that are not slugs of served problems."""
    known = [slug for slug in slugs if slug != manifest.slug]
    return [
        manifest_fault(
            "prerequisite", "prerequisites", f"prerequisites: there is no problem '{slug}'{suggest(slug, known)}"
        )
        for slug in manifest.prerequisites
        if slug not in known and slug != manifest.slug
    ]


def shared_uuids(manifest: Manifest, others: Mapping[str, UUID]) -> list[PackageFault]:
    """Find other problems with this problem's uuid.

    Args:
      others: the uuid of each served problem, by slug, possibly including this one.
    """
    return [
        manifest_fault(
            "uuid",
            "uuid",
            f"uuid: {uuid} belongs to the problem '{slug}'. Draw a new one for '{manifest.slug}': "
            'python -c "import uuid; print(uuid.uuid4())"',
        )
        for slug, uuid in others.items()
        if slug != manifest.slug and uuid == manifest.uuid
    ]


def unmatched_leaves(manifest: ProgramManifest, placed: Iterable[str], counted: Iterable[str]) -> list[str]:
    """Find globs that match no leaf of the reference. The judge calls this, once it has compiled the reference.

    Args:
      placed: paths of the leaves whose shardings are compared, which `leaves` and `into` can name.
      counted: paths of the leaves whose bytes can be counted, which `of` and groups can name.
    """
    placed, counted, faults = sorted(set(placed)), sorted(set(counted)), []
    groups = manifest.program.groups
    for group, patterns in groups.items():
        for pattern in patterns:
            faults += _unmatched(f"program.groups.{group}", pattern, counted)
    for check in manifest.checks:
        for where, rule in _rules(check):
            for pattern in rule.get("leaves") or ():
                faults += _unmatched(f"check '{check.id}': {where}leaves", pattern, placed)
            for key, name in _leaf_names(rule):
                if name not in (*groups, "reference"):
                    known = placed if key in ("into", "not_into") else counted
                    faults += _unmatched(f"check '{check.id}': {where}{key}", name, [*known, *groups])
    return faults


def arguments_of(manifest: Manifest, source: str) -> list[str] | None:
    """The arguments of the entry point that come from cases, in order; None if its signature cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == manifest.entry]
    if not functions or functions[-1].args.vararg or functions[-1].args.kwonlyargs:
        return None
    names = [each.arg for each in (*functions[-1].args.posonlyargs, *functions[-1].args.args)]
    if manifest.mode != "program":
        return names
    return names[2 if manifest.program.init else 1 :]


def wrong_cases(manifest: Manifest, source: str, cases: Mapping[str, Iterable[str]]) -> list[str]:
    """Find cases whose arguments differ from the entry point's, and sharded inputs that no case has.

    Args:
      source: the reference.
      cases: the argument names of each case, by case id.
    """
    faults = []
    seeded = manifest.mode == "program" and manifest.program.init is not None
    given = {id: [name for name in names if not (seeded and name == "seed")] for id, names in cases.items()}
    expected = arguments_of(manifest, source)
    for id, names in given.items():
        if expected is None:
            break
        unknown = [name for name in names if not _is_one_of(name, expected)]
        if unknown:
            hint = suggest(unknown[0], expected)
            faults.append(f"cases.py: {id} gives '{unknown[0]}', which `{manifest.entry}` does not take{hint}")
        elif [_argument(name, expected) for name in names] != expected:
            takes = f"`{manifest.entry}` takes {', '.join(expected)}, by position"
            faults.append(f"cases.py: {id} gives {', '.join(names) or 'nothing'}, but {takes}")
    everything = {name for names in given.values() for name in names}
    for name in manifest.program.inputs if manifest.mode == "program" else ():
        if name not in everything:
            faults.append(f"problem.toml: program.inputs.{name}: no case gives '{name}'{suggest(name, everything)}")
    return faults


def _is_one_of(name: str, arguments: list[str]) -> bool:
    return _argument(name, arguments) in arguments


def _argument(name: str, arguments: list[str]) -> str:
    """The argument that an input is for. A number at the end distinguishes different shardings of one argument."""
    return name if name in arguments else name.rstrip("0123456789")


def _unknown_functions(manifest: Manifest, files: Mapping[str, str]) -> list[PackageFault]:
    faults = []
    wanted = {"entry": manifest.entry}
    if manifest.mode == "program" and manifest.program.init:
        wanted["program.init"] = manifest.program.init
    if isinstance(manifest, AnswerManifest):
        wanted = {"answer mode needs draw(rng)": "draw", "answer mode needs truth(parameters)": "truth"}
    for file in ("questions.py",) if isinstance(manifest, AnswerManifest) else ("reference.py", "starter.py"):
        if not files.get(file, "").strip():
            continue
        try:
            table = symtable.symtable(files[file], file, "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = error.lineno if isinstance(error, SyntaxError) else None
            faults.append(PackageFault("python", file, line, f"{file} is not Python: {error}"))
            continue
        defined = [each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()]
        for key, name in wanted.items():
            if name not in defined:
                message = f"{key}: {file} does not define '{name}'{suggest(name, defined)}"
                faults.append(manifest_fault("name", key.partition(" ")[0], message))
    return faults


def _unknown_in_check(
    manifest: ProgramManifest, number: int, check: CheckSpec, arguments: list[str] | None
) -> list[PackageFault]:
    axes, groups = list(manifest.program.meshes[0]), manifest.program.groups
    faults: list[PackageFault] = []

    def add(key: str, message: str) -> None:
        faults.append(manifest_fault("name", f"checks.{number}.{key}", f"check '{check.id}': {key}: {message}"))

    for where, rule in _rules(check):
        for name in rule.get("inputs") or ():
            if arguments is not None and not _is_one_of(name, arguments):
                add(f"{where}inputs", _not_an_input(name, manifest, arguments))
        named = rule.get("axes") or []
        unknown = [axis for axis in named if axis not in axes]
        for each in unknown:
            add(f"{where}axes", no_axis(each, axes))
        if not unknown and named != [axis for axis in axes if axis in named]:
            # Rules compare them with a collective's axes as lists, in the order of the mesh.
            add(f"{where}axes", f"name each axis once, in the order of the mesh: {axes}")
        for count in (rule.get("executions") or {}).values():
            axis = re.sub(r"[+-]\d+$", "", count) if isinstance(count, str) else None
            if axis is not None and axis not in axes:
                add(f"{where}executions", no_axis(axis, axes))
        for key, name in _leaf_names(rule):
            # A plain name can also be a leaf or an input, which are known only once the reference is compiled.
            if name not in (*groups, "reference", *(arguments or ())) and not _GLOB.search(name):
                hint = suggest(name, [*groups, "reference"])
                if hint:
                    add(f"{where}{key}", f"there is no group '{name}'{hint}")
        if where.startswith("on_chip.") and rule.get("of") == "reference":
            add(f"{where}of", "the reference is not compiled for chips. Name a group of leaves")
    for key, topology, meshes in _slices(manifest, check):
        _, devices = slice_of(topology)
        if devices not in [math.prod(mesh.values()) for mesh in meshes]:
            add(key, f"{topology} has {devices} chips, and no mesh that it is checked on has as many devices")
    return faults


def _unknown_modules(number: int, check: CheckSpec) -> Iterator[PackageFault]:
    """Find forbidden names that begin with no module and are not Python's own, so that no source can use them."""
    for entry, rule in enumerate(check.bounds.model_dump().get("forbidden") or ()):
        for name in rule["names"]:
            first = full_name(name).partition(".")[0]
            if not (hasattr(builtins, first) or is_installed(first)):
                key = f"checks.{number}.forbidden.{entry}.names"
                message = (
                    f"check '{check.id}': there is no module '{first}'. Write the whole name, as in jax.numpy.sort"
                )
                yield manifest_fault("name", key, message)


def _slices(manifest: ProgramManifest, check: CheckSpec) -> Iterator[tuple[str, str, list[dict[str, int]]]]:
    """Yield the slices that a check names, each with its key, and the meshes whose programs it can be for."""
    bounds, program = check.bounds, manifest.program
    if isinstance(bounds, FullSizeBounds):
        for topology in bounds.topology:
            yield "topology", topology, [program.full_size.mesh] if program.full_size else []
    for topology in slices_in(bounds):
        yield "on_chip.topology" if isinstance(bounds, AlsoOnChips) else "topology", topology, list(program.meshes)


def _rules(check: CheckSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the check's own bounds and each of its `rules`, with the path to show in a message."""
    bounds = check.bounds.model_dump()
    yield "", bounds
    on_chip = bounds.get("on_chip") or {}
    yield "on_chip.", on_chip
    for where, of in (("", bounds), ("on_chip.", on_chip)):
        for number, rule in enumerate(of.get("rules", ())):
            yield f"{where}rules.{number}.", rule


def _leaf_names(rule: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the leaves and groups that a rule names, each with its key."""
    if rule.get("of"):
        yield "of", rule["of"]
    for key in ("only_from", "not_only_from", "into", "not_into", "groups"):
        for name in rule.get(key) or ():
            yield key, name


def no_axis(axis: str, axes: list[str]) -> str:
    return f"there is no mesh axis '{axis}'{suggest(axis, axes)}"


def _unknown_input(key: str, manifest: Manifest, arguments: list[str]) -> PackageFault:
    message = f"{key}: {_not_an_input(key.rpartition('.')[2], manifest, arguments)}"
    return manifest_fault("name", key, message)


def _not_an_input(name: str, manifest: Manifest, arguments: list[str]) -> str:
    return f"`{manifest.entry}` in reference.py takes no '{name}'{suggest(name, arguments)}"


def _unmatched(where: str, pattern: str, known: list[str]) -> list[str]:
    if any(fnmatchcase(name, pattern) for name in known):
        return []
    return [f"problem.toml: {where}: no leaf of the reference matches '{pattern}'{suggest(pattern, known)}"]
