"""Write the names that the editor completes, with their signatures, from the installed packages.

Usage: python frontend/library_names.py >app/core/static/library_names.json
"""

import enum
import importlib
import inspect
import json
import sys
import types
import warnings

_MODULES = (
    *("jax", "jax.lax", "jax.nn", "jax.numpy", "jax.numpy.linalg", "jax.random", "jax.sharding", "jax.tree"),
    *("flax.nnx", "optax"),
)
_LONGEST = 100
_UNREAD = "(…)"
# Signatures of native code that only newer versions of Python can read. They say nothing.
_EMPTY = ("(*args, **kwargs)", "(iterable=…)")


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return str(value.name)
    return repr(value) if value is None or isinstance(value, bool | int | float | str) else "…"


def _parameter(each: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
    default = "" if each.default is inspect.Parameter.empty else f"={_default(each.default)}"
    return f"{stars}{each.name}{default}"


def _signature(value: object) -> str:
    """The parameters without annotations, cut to a line; `(…)` if they cannot be read."""
    if isinstance(value, types.ModuleType) or not callable(value):
        return ""
    try:
        # Read `__init__`, because the metaclass of nnx hides what a module takes.
        initialize = inspect.isclass(value) and inspect.isfunction(value.__init__)
        parameters = list(inspect.signature(value.__init__ if initialize else value).parameters.values())[initialize:]
    except (TypeError, ValueError):
        return _UNREAD
    texts = []
    is_keyword_only = False
    for each in parameters:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            if not any(other.kind is inspect.Parameter.VAR_POSITIONAL for other in parameters):
                texts.append("*")
        texts.append(_parameter(each))
    text = f"({', '.join(texts)})"
    if text in _EMPTY:
        return _UNREAD
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]}…)"


def library_names() -> dict[str, dict[str, str]]:
    """Return the public names of each module with their signatures, which are empty for names that aren't callable."""
    tables = {}
    for path in _MODULES:
        module = importlib.import_module(path)
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        table = {}
        with warnings.catch_warnings(action="error"):
            for name in sorted(set(names)):
                try:
                    table[name] = _signature(getattr(module, name))
                except (AttributeError, Warning):
                    continue  # It is deprecated, or listed and gone.
        tables[path] = table
    return tables


if __name__ == "__main__":
    json.dump(library_names(), sys.stdout, indent=0, ensure_ascii=False)
    print()
