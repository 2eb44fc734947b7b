"""Private names of JAX, and differences between the two lines of JAX that the grader runs on. No other module of the
grader may use either: tests/grader/runner/test_private_jax.py lists each name with the test that needs it.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import jax
from jax._src import compilation_cache, compiler, source_info_util, xla_bridge
from jax._src.compilation_cache_interface import CacheInterface as CacheInterface
from jax._src.interpreters import mlir
from jax.extend.core import JaxprEqn
from jax.sharding import NamedSharding

LINE = jax.__version_info__[:2]
_GET_OPTIONS: Any = compiler.get_compile_options
# The first line of JAX whose compiler refuses an option.
_OPTIONS_GONE = {"xla_cpu_use_fusion_emitters": (0, 12)}


def install_cache(cache: CacheInterface) -> None:
    """Make `cache` the persistent compilation cache of this process, which has compiled nothing yet."""
    compilation_cache._cache = cache
    compilation_cache._cache_initialized = True
    compilation_cache._cache_checked = compilation_cache._cache_used = True
    # It stays in memory, so compressing it would be wasted work.
    compilation_cache.compress_executable = compilation_cache.decompress_executable = _as_it_is


def share_lowering_context() -> None:
    """One MLIR context for all lowerings of this process. JAX 0.10 makes one per program, JAX 0.12 one for ten."""
    context = mlir.make_ir_context()
    mlir.make_ir_context = lambda: context


def lowering_context() -> AbstractContextManager[object]:
    """A context manager in which MLIR knows the dialects that JAX lowers to."""
    return mlir.make_ir_context()


def backend_is_started() -> bool:
    return bool(xla_bridge.backends_are_initialized())


class SourceFrame(Protocol):
    """A call in a traceback of JAX."""

    @property
    def file_name(self) -> str: ...
    @property
    def function_name(self) -> str: ...
    @property
    def start_line(self) -> int: ...


def user_frames(equation: JaxprEqn) -> Iterator[SourceFrame]:
    """Where an equation of a jaxpr comes from, innermost call first, without JAX's own."""
    return iter(source_info_util.user_frames(equation.source_info.traceback))


def named_shardings(exported: jax.export.Exported) -> tuple[NamedSharding | None, ...]:
    """The sharding of each input of an exported program, then of each output; None for one without a NamedSharding."""
    return (*exported._in_named_shardings, *exported._out_named_shardings)


def known_options(options: Mapping[str, str | bool]) -> dict[str, str | bool]:
    """The given compiler options that this line of JAX supports."""
    return {name: value for name, value in options.items() if name not in _OPTIONS_GONE or _OPTIONS_GONE[name] > LINE}


def compile_with(options: Mapping[str, str | bool]) -> None:
    """Use these options for everything that this process compiles from now on. A call of `jax.jit` may still
    override them.
    """

    known = known_options(options)

    def get_options(
        *args: object, env_options_overrides: Mapping[str, object] | None = None, **named: object
    ) -> object:
        return _GET_OPTIONS(*args, env_options_overrides={**known, **(env_options_overrides or {})}, **named)

    seam: Any = compiler
    seam.get_compile_options = get_options


def _as_it_is(executable: bytes) -> bytes:
    return executable
