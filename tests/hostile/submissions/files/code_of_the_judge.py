"""expect: accepted; wall: namespaces. Imports the judge and the service, to use their code against them."""

import importlib

for name in (
    "grader.judging.judge",
    "grader.judging.references",
    "grader.modes.program.examine",
    "grader.checks",
    "grader.sandbox.session",
    "app.entry.main",
    "app.core.settings",
):
    try:
        importlib.import_module(name)
        print("CROSSED: imported", name)
    except ImportError:
        continue


def add_one(x):
    return x + 1
