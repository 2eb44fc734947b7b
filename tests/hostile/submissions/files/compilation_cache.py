"""expect: accepted; wall: namespaces, landlock; says: "stopped". Plants an entry in the compilation cache, which the next process would execute."""

import os

import jax

folder = jax.config.jax_compilation_cache_dir
try:
    if folder is None:
        raise FileNotFoundError
    with open(os.path.join(folder, "jit_add-planted-cache"), "wb") as file:
        file.write(b"x")
    print("CROSSED: wrote into", folder)
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
