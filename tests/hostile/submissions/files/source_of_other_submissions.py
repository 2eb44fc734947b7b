"""expect: accepted. Looks in its process for what an earlier submission left there."""

import builtins
import linecache
import sys

import jax
import numpy

others = [name for name in linecache.cache if "submission" in name and name != "submission.py"]
if others or "planted" in sys.modules or any(hasattr(module, "planted") for module in (builtins, jax, numpy)):
    print("CROSSED: found what another submission left", others)


def add_one(x):
    return x + 1
