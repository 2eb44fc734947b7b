"""Decide what CI runs after the tests: the next JAX and compilers for chips, if the commit can change the results.

`python -m tests.legs` prints the names of the legs to run and, to standard error, why it leaves one out. It prints all
with `--all`, or if Git does not know the base. As other work that takes turns, each runs for one commit in eight, too.
"""

import sys

from tests.parts import base, changed, part_of_commit

# Prefixes of the paths that each leg depends on.
_JUDGED = ("grader/", "problems/", "tests/grader/", "tests/parts.py", "tests/legs.py", "pyproject.toml", "uv.lock")
LEGS = {
    "next-jax": (*_JUDGED, "next-jax.txt"),
    "tpu": (*_JUDGED, "tests/tpu/"),
    "gpu": (*_JUDGED, "tests/gpu/", "gpu-compiler.txt", "app/learning/calculators/", "lessons/"),
}


def to_run(every: bool) -> list[str]:
    """The legs of this run. Prints a line for each that is left out."""
    chosen = []
    every = every or base() is None
    for number, (leg, files) in enumerate(LEGS.items(), start=1):
        if every or part_of_commit() == number or any(path.startswith(files) for path in changed()):
            chosen.append(leg)
        else:
            print(
                f"Left out: ./meshgrade test --{leg}, because nothing that it depends on has changed since {base()}: "
                f"{', '.join(files)}. It always runs with --all.",
                file=sys.stderr,
            )
    return chosen


if __name__ == "__main__":
    print(*to_run("--all" in sys.argv[1:]))
