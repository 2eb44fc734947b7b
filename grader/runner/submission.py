"""Run a submission's source as a module, call its entry point, and report errors with their line."""

import io
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from typing import TypeVar

FILENAME = "submission.py"
MAX_MESSAGE = 2000
MAX_FRAMES = 12

T = TypeVar("T")
# An exception that means the code cannot be exported, and what to write instead.
Refusal = tuple[type[Exception], str]


class SubmissionFailed(Exception):
    """The submission failed. `reason` is from the judge's closed list, and `detail` is plain JSON."""

    def __init__(self, reason: str, message: str, detail: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.reason, self.message, self.detail = reason, message, detail or {}


class Submission:
    """The module of a submission, and its entry point."""

    def __init__(self, module: types.ModuleType, name: str, entry: Callable[..., object]) -> None:
        self._module = module
        self.name = name
        self.entry = entry

    @classmethod
    def load(cls, source: str, entry: str) -> "Submission":
        """Run the source as the module `submission`. As in a file, a leading byte order mark is skipped.

        Raises:
          SubmissionFailed: `syntax_error`, `error` while it ran, or `missing_entry`.
        """
        module = _run(source, "submission")
        return cls(module, entry, _function(module, entry))

    def function(self, name: str) -> Callable[..., object]:
        """Return another function of the module. Raises SubmissionFailed, `missing_entry`."""
        return _function(self._module, name)

    def call(self, args: Sequence[object]) -> object:
        return _guard(lambda: self.entry(*args))

    def guard(self, action: Callable[[], T], refusals: Sequence[Refusal] = ()) -> T:
        """Run `action`, which uses the submission's objects, and turn its exceptions into `SubmissionFailed`."""
        return _guard(action, refusals)


def run_script(source: str) -> None:
    """Run the source as Python runs a script: its `__name__` is `__main__`, it needs no entry point, and it can end
    with `sys.exit()`.

    Raises:
      SubmissionFailed: `syntax_error`, or `error` while it ran.
    """
    # Send each line as it is printed, so that a script that is stopped shows how far it got.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    _run(source, "__main__", may_exit=True)


def _run(source: str, name: str, *, may_exit: bool = False) -> types.ModuleType:
    """Run the source as a module of this name, and return the module. With `may_exit`, `sys.exit()` is allowed."""
    source = source.removeprefix("\N{BYTE ORDER MARK}")
    module = types.ModuleType(name)
    module.__file__ = FILENAME
    # Registered under its name, so that dataclasses and flax find the module of a class defined in it.
    sys.modules[name] = module
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    try:
        code = compile(source, FILENAME, "exec")
    except SyntaxError as error:
        raise _syntax_fault(error) from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise SubmissionFailed(
            "syntax_error", f"Python's compiler failed on this source: {type(error).__name__}: {error}"
        ) from None

    def run() -> None:
        try:
            exec(code, module.__dict__)
        except SystemExit as end:
            if not may_exit or end.code not in (None, 0):
                raise

    _guard(run)
    return module


def _guard(action: Callable[[], T], refusals: Sequence[Refusal] = ()) -> T:
    try:
        return action()
    except SubmissionFailed:
        raise
    except (
        BaseException
    ) as error:  # SystemExit and KeyboardInterrupt too: a submission must not end the runner by raising
        fault = _describe(error)
        for kind, advice in refusals:
            if isinstance(error, kind):
                first = fault.message.partition("\n")[0]
                raise SubmissionFailed("not_exportable", f"{first}\n{advice}", fault.detail) from None
        raise fault from None


def _function(module: types.ModuleType, name: str) -> Callable[..., object]:
    found = module.__dict__.get(name)
    if not callable(found):
        raise SubmissionFailed("missing_entry", _missing_entry(name, found, module))
    return found  # type: ignore[no-any-return]


def _syntax_fault(error: SyntaxError) -> SubmissionFailed:
    line, column = error.lineno or 0, error.offset or 0
    text = (error.text or "").rstrip("\n")[:200]
    # A caret under the column, as every Python user knows it.
    pointer = f"\n    {text}\n    {' ' * (column - 1)}^" if text and 0 < column <= len(text) + 1 else ""
    kind = type(error).__name__
    return SubmissionFailed(
        "syntax_error",
        f"{kind} on line {line}, column {column}: {error.msg}{pointer}",
        {"line": line, "column": column},
    )


def _missing_entry(entry: str, found: object, module: types.ModuleType) -> str:
    if found is not None:
        return f"`{entry}` must be a function. It is a value of type {type(found).__name__[:80]}."
    functions = [
        name
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == "submission"
    ]
    defines = (
        f"It defines {', '.join(f'`{name}`' for name in functions[:8])}." if functions else "It defines no function."
    )
    return f"The file does not define `{entry}`. {defines} Name your function `{entry}`, at the top level of the file."


def _describe(error: BaseException) -> SubmissionFailed:
    """The type, the message and the submission's own frames. Reading the message runs hostile code, and may fail."""
    try:
        text = str(error)[:MAX_MESSAGE]
    except BaseException:  # a hostile __str__ may raise anything at all
        text = "(its message could not be read)"
    name = type(error).__name__[:80]
    frames = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            frames.append(source_frame(trace.tb_lineno, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    out_of_memory = isinstance(error, MemoryError) or text.startswith("RESOURCE_EXHAUSTED")
    detail: dict[str, object] = {"type": name, "traceback": frames[-MAX_FRAMES:]}
    return SubmissionFailed("memory_limit" if out_of_memory else "error", text, detail)


def source_frame(line: int, function: str) -> dict[str, object]:
    """A line of the submission as a frame of a traceback."""
    return {"line": line, "function": function[:80], "text": linecache.getline(FILENAME, line).strip()[:200]}
