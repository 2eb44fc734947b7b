"""Prepare a runner before it loads a submission: imports, the backend, and compiled programs."""

import gc
import sys
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from grader.confined import private_jax
from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.core.wire import Array


class MemoryCache(private_jax.CacheInterface):
    """JAX's persistent compilation cache, in memory: entries that were passed in, and those that this process adds.

    A submission can change it only for its own process. `misses` counts the programs that had to be compiled.
    """

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.misses = 0

    def get(self, key: str) -> bytes | None:
        entry = self.entries.get(key)
        self.misses += entry is None
        return entry

    def put(self, key: str, value: bytes) -> None:
        self.entries[key] = value


def trace_common_operations() -> None:
    """Trace what most problems use, without a device, because JAX and flax import many modules only on first use.

    From then on, a tracer rejects a request for its sharding at once.

    Raises:
      RuntimeError: tracing started a backend, so the process must not fork.
    """

    tracer: Any = jax.core.Tracer
    tracer.sharding = property(_no_sharding)

    def step() -> object:
        model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
        x = jnp.ones((4, 2), jnp.float32)
        loss, grads = nnx.value_and_grad(lambda model: jnp.mean(jnp.square(model(x) - 1.0)))(model)
        optimizer.update(model, grads)
        return loss

    jax.eval_shape(step)
    if private_jax.backend_is_started():
        raise RuntimeError("tracing started a backend")


def _no_sharding(tracer: object) -> object:
    """Raise at once. Flax reads this of every parameter, and JAX would search for the tracer's origin to build a
    message that its own `__getattr__` then replaces.
    """
    raise AttributeError("sharding")


def start_backend() -> MemoryCache:
    """Start the devices, with one MLIR context for all lowerings, a compilation cache in memory, and compiler options
    for programs that run once.

    JAX would make a context for each program: 3.5 ms and about 1 MiB each, a third of a small program's time and half
    of a warm process's memory.
    """
    cache = MemoryCache()
    private_jax.install_cache(cache)
    private_jax.compile_with(COMPILER_OPTIONS)
    config: Any = jax.config
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    private_jax.share_lowering_context()
    jax.devices()
    return cache


def warm(source: str, cache: MemoryCache, entries: dict[str, Array]) -> dict[str, object]:
    """Run a package's warmup.py: public code that compiles the operations of the problem's shapes.

    Args:
      entries: cache key to bytes, for programs that another runner compiled in the same way. Most are then only loaded.
    Returns:
      All entries of the cache, as uint8 arrays.
    """
    for key, entry in entries.items():
        cache.entries[key] = entry.tobytes()
    cache.misses = 0
    if not source:
        return {}
    module = types.ModuleType("warmup")
    # With entries, warmup.py can leave out steps that only fill the cache.
    module.__dict__["compiled"] = bool(entries)
    sys.modules["warmup"] = module
    # Nearly everything that is made here stays in caches. Searching it for garbage would waste a tenth of the CPU time,
    # now and while a submission runs.
    gc.disable()
    exec(compile(source, "warmup.py", "exec"), module.__dict__)
    module.__dict__["warm"]()
    jax.effects_barrier()  # type: ignore[no-untyped-call]
    del sys.modules["warmup"]
    gc.freeze()
    gc.enable()
    return {key: np.frombuffer(entry, np.uint8) for key, entry in cache.entries.items()}
