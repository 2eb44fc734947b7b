"""expect: accepted. Looks for what was compiled before it came: shapes are public, a solution would not be."""

import gc

names = {getattr(value, "__qualname__", "") for value in gc.get_objects() if callable(value)}
if names & {"add_one", "fsdp_step"}:
    print("CROSSED: found a solution")


def add_one(x):
    return x + 1
