"""Find the function of a package that is the solution, and compare functions."""

import ast

from grader.package.package import Package, ProgramManifest


def solution_of(package: Package) -> str:
    """The name of the function that students write: the entry point, or `init` if the starter has a finished step.

    Then public files can contain the step, but never the `init`.
    """
    manifest = package.manifest
    if not isinstance(manifest, ProgramManifest) or not manifest.program.init:
        return manifest.entry
    entry, init = manifest.entry, manifest.program.init
    finished = [name for name in (entry, init) if _is_finished(package, name)]
    return init if finished == [entry] else entry


def body_of(source: str, name: str) -> str | None:
    """A dump of a function's body without its docstring; None if there is no such function."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    if not functions:
        return None
    body = functions[-1].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return "\n".join(ast.dump(each) for each in body)


def _is_finished(package: Package, name: str) -> bool:
    body = body_of(package.starter, name)
    return body is not None and body == body_of(package.reference, name)
