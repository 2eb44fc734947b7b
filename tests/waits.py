"""Find waits in tests that fail on a busy machine: pauses for a time instead of an event, and short limits."""

import ast
from collections.abc import Iterator
from pathlib import Path

# A limit that only ends a test that hangs. A busy machine needs ten times as long as an idle one.
LEAST_S = 60
# The limit for what a page is to show, in milliseconds, as in tests/browser/conftest.py.
LEAST_MS = 30_000
_PAUSES = {"time.sleep", "asyncio.sleep", "anyio.sleep"}
# Where the limit is: the position among the arguments, or the keyword.
_LIMITS = {
    "asyncio.timeout": 0,
    "asyncio.wait_for": 1,
    "anyio.fail_after": 0,
    "anyio.move_on_after": 0,
    "subprocess.run": None,
    "subprocess.check_output": None,
}
_LIMITED_METHODS = {"communicate", "wait", "join"}
_CLIENTS = {f"httpx.{name}" for name in ("get", "post", "put", "delete", "request", "stream", "Client", "AsyncClient")}
_OF_PAGES = ("to_", "not_to_", "expect_", "wait_for_", "wait_for", "goto", "reload", "click", "fill", "press")
_ENDLESS = (ast.While, ast.For, ast.AsyncFor)


def faults(path: Path) -> Iterator[tuple[str, str]]:
    """Each function of a file with such a wait, and what is wrong."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _faults(tree, "", False)


def _faults(node: ast.AST, function: str, in_loop: bool) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _faults(child, child.name, False)
            continue
        if isinstance(child, ast.Call) and (fault := _fault(child, in_loop)):
            yield function, f"line {child.lineno}: {fault}"
        yield from _faults(child, function, in_loop or isinstance(child, _ENDLESS))


def _fault(call: ast.Call, in_loop: bool) -> str | None:
    name = ast.unparse(call.func)
    method = name.rpartition(".")[2]
    if name in _PAUSES and not in_loop and _number(call.args[0]) != 0:
        return f"{name} pauses for a time. Wait for an event that shows what you want to see."
    if method == "wait_for_timeout" and not in_loop:
        return f"{name} pauses for a time. Wait for what the page shows."
    if name in _CLIENTS and not {"timeout", "transport"} & {each.arg for each in call.keywords}:
        return f"{name} gives up after 5 s. Pass timeout={LEAST_S}."
    if method.startswith(_OF_PAGES) and not name.startswith("asyncio."):
        limit_ms = _number(next((each.value for each in call.keywords if each.arg == "timeout"), None))
        if limit_ms is not None and limit_ms < LEAST_MS:
            return f"{name} gives up after {limit_ms:g} ms. Leave timeout out, as tests/browser/conftest.py sets it."
    # In a loop, the limit says how often something is looked at, so it may be short.
    limit = None if in_loop else _number(_limit_of(call, name, method))
    if limit is not None and limit < LEAST_S:
        return f"{name} gives up after {limit:g} s. Give it {LEAST_S} s or more: a busy machine is slow."
    return None


def _limit_of(call: ast.Call, name: str, method: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "timeout" and (name in _LIMITS | dict.fromkeys(_CLIENTS) or method in _LIMITED_METHODS):
            return keyword.value
    if method in _LIMITED_METHODS and not call.keywords and len(call.args) == 1:
        return call.args[0]
    position = _LIMITS.get(name)
    return call.args[position] if position is not None and len(call.args) > position else None


def _number(value: ast.expr | None) -> float | None:
    return float(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, int | float) else None
