"""The modules that come with a file to explore: those that are named, and those beside it that it imports."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.start_errors import StartRefused
from app.entry.cli.submission_arguments import text_of
from grader.inputs.module_rules import MAX_MODULE_BYTES


def read_modules(named: Sequence[str], sources: Sequence[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    """Read the named files, and each module that a source or one of these modules imports and that is beside a source
    or a named file.

    Args:
      sources: the name and the source of each file; `-` is standard input.
    Returns:
      The sources of the modules by name, and the files that were not named.
    Raises:
      StartRefused: a file cannot be read, or two of them have the same name.
    """
    modules: dict[str, str] = {}
    for file in named:
        name = Path(file).stem
        if name in modules:
            raise StartRefused(f"two modules are named {name}", "Give each `--module` a name of its own.")
        modules[name] = text_of(file, MAX_MODULE_BYTES)
    folders = dict.fromkeys(Path(file).parent for file in (*(file for file, _ in sources), *named) if file != "-")
    found: list[str] = []
    waiting = [*(source for _, source in sources), *modules.values()]
    while waiting:
        for name in _imported(waiting.pop()):
            files = [] if name in modules else [each for folder in folders if (each := folder / f"{name}.py").is_file()]
            if files:
                modules[name] = _read_equal(name, files)
                waiting.append(modules[name])
                found.append(str(files[0]))
    return modules, found


def _read_equal(name: str, files: Sequence[Path]) -> str:
    text, *others = (text_of(str(file), MAX_MODULE_BYTES) for file in files)
    if any(other != text for other in others):
        raise StartRefused(
            f"the modules {files[0]} and {files[1]} differ, and all sources get the same modules",
            f"Name the one to use with `--module {files[0]}`.",
        )
    return text


def _imported(source: str) -> Iterator[str]:
    """The first part of each imported name. A source that Python cannot read imports nothing; the runner says why."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]
