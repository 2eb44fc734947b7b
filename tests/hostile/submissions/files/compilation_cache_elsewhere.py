"""expect: accepted. Turns a compilation cache of its own on: it may, in its scratch folder, which nobody else reads."""

import jax

jax.config.update("jax_compilation_cache_dir", "/tmp/cache")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


@jax.jit
def add_one(x):
    return x + 1
