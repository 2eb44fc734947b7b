"""expect: accepted. Looks through every module that is loaded for code of the judge and for answers."""

import sys

for name, module in list(sys.modules.items()):
    inside = (
        "grader.core.chips",
        "grader.core.item_sizes",
        "grader.core.wire",
        "grader.core.xla_options",
        "grader.confined",
        "grader.forks",
        "grader.runner",
        "grader.verifier",
        "grader.program",
    )
    if name.startswith(("grader.", "app.")) and name != "grader.core" and not name.startswith(inside):
        print("CROSSED: found the module", name)
    if any(word in vars(module) for word in ("hidden_cases", "public_cases", "reference_answers")):
        print("CROSSED: found cases in", name)


def add_one(x):
    return x + 1
