"""Run a submission's source as a module, call its entry point, and report errors with their line."""

import ast
import inspect
import io
import linecache
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from grader.runner.further_modules import FurtherModules, is_of_further_module

FILENAME = "submission.py"
MAX_MESSAGE = 2000
MAX_FRAMES = 12
# How the second line of JAX's messages on traced values begins, if it says only where a value came from:
# https://github.com/jax-ml/jax/blob/main/jax/_src/core.py (concretization_function_error).
_ORIGINS = ("The problem arose with", "This ", "The error ", "See https", "The function being traced", "Detail: ")
# Python's message if `input()` finds no line.
_NO_INPUT = "EOF when reading a line"

T = TypeVar("T")
# An exception that means the code cannot be exported, and what to write instead.


class Refusal(NamedTuple):
    """What to advise if tracing raises an error of this kind, whose message contains these words."""

    kind: type[Exception]
    advice: str
    words: str = ""


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
    def load(cls, source: str, entry: str, modules: Mapping[str, str] | None = None) -> "Submission":
        """Run the source as the module `submission`. As in a file, a leading byte order mark is skipped.

        Args:
          modules: the sources of further modules that it can import, by their names.
        Raises:
          SubmissionFailed: `syntax_error`, `error` while it ran, or `missing_entry`.
        """
        if modules:
            FurtherModules(modules).install()
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
    # Register the module under its name, so that dataclasses and flax find the module of a class defined in it.
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
        fault, place = _describe(error), _place_in_further_module(error)
        for kind, advice, words in refusals:
            if isinstance(error, kind) and words in fault.message:
                first, *rest = fault.message.splitlines() or [""]
                said = next((line for line in rest if line.strip()), "")
                # JAX's own advice is better, unless it only says where the value came from.
                best = advice if not said or said.startswith(_ORIGINS) else said
                raise SubmissionFailed("not_exportable", f"{first}\n{best}{place}", fault.detail) from None
        raise SubmissionFailed(fault.reason, f"{fault.message}{place}", fault.detail) from None


def from_its_line(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """Let a function be called from the line of the source that binds its name, if another file defines it.

    Otherwise, nothing that it computes would have a line in the source.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_filename == FILENAME or not name.isidentifier():
        return function
    statements = ast.parse("".join(linecache.getlines(FILENAME))).body
    line = next((each.lineno for each in reversed(statements) if name in _bound_by(each)), None)
    if line is None:
        return function
    scope: dict[str, Any] = {"function": function}
    caller = f"def {name}(*args, **named): return function(*args, **named)"
    exec(compile("\n" * (line - 1) + caller, FILENAME, "exec"), scope)
    return scope[name]  # type: ignore[no-any-return]


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that an import or an assignment binds."""
    match statement:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {each.asname or each.name for each in names}
        case ast.Assign(targets=targets):
            return {each.id for each in targets if isinstance(each, ast.Name)}
    return set()


def _function(module: types.ModuleType, name: str) -> Callable[..., object]:
    found = module.__dict__.get(name)
    if not callable(found):
        raise SubmissionFailed("missing_entry", _missing_entry(name, found, module))
    return found  # type: ignore[no-any-return]


def _syntax_fault(error: SyntaxError) -> SubmissionFailed:
    detail: dict[str, object] = {"line": error.lineno or 0, "column": error.offset or 0}
    return SubmissionFailed("syntax_error", _syntax_message(error), detail)


def _syntax_message(error: SyntaxError, file: str = "") -> str:
    """The place and the message of a syntax error; `file` is empty for the source itself."""
    line, column = error.lineno or 0, error.offset or 0
    text = (error.text or "").rstrip("\n")[:200]
    # Point a caret at the column, as Python does.
    pointer = f"\n    {text}\n    {' ' * (column - 1)}^" if text and 0 < column <= len(text) + 1 else ""
    where = f"line {line} of {file}" if file else f"line {line}"
    return f"{type(error).__name__} on {where}, column {column}: {error.msg}{pointer}"


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
    """Describe an error by type, message and the submission's own frames. Reading the message runs hostile code."""
    try:
        text = str(error)[:MAX_MESSAGE]
    except BaseException:  # a hostile __str__ may raise anything at all
        text = "(its message could not be read)"
    if isinstance(error, EOFError) and text == _NO_INPUT:
        text = "There is no standard input here, so `input()` has nothing to read. Write the value into your code."
    name = type(error).__name__[:80]
    frames: list[dict[str, object]] = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            frames.append(source_frame(trace.tb_lineno, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename and is_of_further_module(error.filename):
        # Use the line of the source that led to the import.
        line = frames[-1]["line"] if frames else 0
        return SubmissionFailed("syntax_error", _syntax_message(error, error.filename), {"line": line})
    out_of_memory = isinstance(error, MemoryError) or text.startswith("RESOURCE_EXHAUSTED")
    detail: dict[str, object] = {"type": name, "traceback": frames[-MAX_FRAMES:]}
    return SubmissionFailed("memory_limit" if out_of_memory else "error", text, detail)


def _place_in_further_module(error: BaseException) -> str:
    """A line that says where in a further module the exception was raised, or "" if the source itself raised it."""
    innermost, trace = None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == FILENAME:
            innermost = None
        elif is_of_further_module(file):
            innermost = trace
        trace = trace.tb_next
    if innermost is None:
        return ""
    code, line = innermost.tb_frame.f_code, innermost.tb_lineno
    text = linecache.getline(code.co_filename, line).strip()[:200]
    return f"\nRaised in {code.co_filename}, line {line}, in {code.co_name[:80]}:\n    {text}"


def line_of_source() -> int:
    """The line of the submission that is running, in the innermost of its calls; 0 if there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != FILENAME:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else 0


def source_frame(line: int, function: str) -> dict[str, object]:
    """A line of the submission as a frame of a traceback."""
    return {"line": line, "function": function[:80], "text": linecache.getline(FILENAME, line).strip()[:200]}
