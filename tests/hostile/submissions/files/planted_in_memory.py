"""expect: accepted. Plants modules, patches and globals in its own process: the next submission has another one."""

import builtins
import sys
import types

import jax
import numpy as np

module = types.ModuleType("planted")
module.planted = True
sys.modules["planted"] = module
builtins.planted = "CROSSED: planted by an earlier submission"
jax.planted = np.planted = True


def add_one(x):
    return x + 1
