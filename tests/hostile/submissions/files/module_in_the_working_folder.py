"""expect: accepted. Plants modules where a careless interpreter would look first."""

import importlib
import sys

for name in ("jax.py", "numpy.py", "sitecustomize.py", "usercustomize.py", "json.py", "secrets.py"):
    for folder in (".", "/tmp"):
        with open(f"{folder}/{name}", "w") as file:
            file.write("print('CROSSED: imported what was planted', flush=True)\nraise SystemExit(3)\n")
importlib.invalidate_caches()
for name in ("secrets", "this_module_is_not_there"):
    sys.modules.pop(name, None)
    try:
        importlib.import_module(name)
    except ImportError:
        continue


def add_one(x):
    return x + 1
