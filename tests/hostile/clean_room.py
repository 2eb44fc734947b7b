"""An honest submission that runs after an attack, and reports everything in scratch that should not be there."""

import builtins
import os
import sys
import threading

import jax
import numpy

found = [name for folder in ("/tmp", os.getcwd(), os.path.expanduser("~")) for name in os.listdir(folder)]
found += [name for name in ("planted", "secrets") if name in sys.modules and "/tmp" in str(sys.modules[name])]
found += [module.__name__ for module in (builtins, jax, numpy) if hasattr(module, "planted")]
found += [name for name in ("LD_PRELOAD", "SEEN") if name in os.environ]
if found:
    print("CROSSED: not a clean room:", found)


def add_one(x):
    return x + threading.main_thread().is_alive()
