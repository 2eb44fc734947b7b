"""Leave out calls that ask the compiler where an array lives, in a program whose page shows that anyway.

`jax.debug.inspect_array_sharding` and `visualize_array_sharding` pass the answer to a Python function, so `jax.export`
cannot write them down.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax

from grader.runner.submission import line_of_source

_NAMES = ("inspect_array_sharding", "visualize_array_sharding")
_MOST_LINES = 8


class ShardingInspections:
    """Calls in a source. While `left_out` is set, they do nothing but remember their lines."""

    def __init__(self) -> None:
        self.left_out = False
        self._found: dict[tuple[int, str], None] = {}

    def install(self) -> None:
        for name in _NAMES:
            setattr(jax.debug, name, self._watched(name, getattr(jax.debug, name)))

    def remarks(self) -> list[str]:
        """A sentence for each function that was called, with the lines of the calls."""
        return [_remark(name, lines) for name in _NAMES if (lines := self._lines_of(name))]

    def begin(self) -> None:
        """Leave out calls from now on, and forget those before."""
        self.left_out = True
        self._found.clear()

    def _lines_of(self, name: str) -> list[int]:
        return sorted(line for line, called in self._found if called == name)

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            if not self.left_out:
                return original(*args, **named)
            self._found[line_of_source(), name] = None
            return None

        return call


def _remark(name: str, lines: list[int]) -> str:
    shown = [f"{line}" for line in lines[:_MOST_LINES]] + ["more"] * (len(lines) > _MOST_LINES)
    which = f"Lines {', '.join(shown[:-1])} and {shown[-1]} call" if len(shown) > 1 else f"Line {shown[0]} calls"
    return (
        f"{which} `jax.debug.{name}`, which is left out. The table of arrays in between shows where each array lives, "
        "at the line that computes it."
    )
