"""What CI runs after the tests: the next JAX and compilers for chips, if something that they depend on changed.

`python -m tests.legs` runs them and says why it leaves one out. If a compiler cannot be installed, that fails the run
where the leg's own files changed. Otherwise the package index may be at fault, so the run only warns, at its end.
"""

import subprocess
import sys

from tests.selection import CHECKOUT, base, has_changed

# What each leg depends on, as prefixes of paths.
_JUDGED = ("grader/", "problems/", "tests/grader/", "tests/selection.py", "tests/legs.py", "pyproject.toml", "uv.lock")
LEGS = {
    "next-jax": (*_JUDGED, "next-jax.txt"),
    "tpu": (*_JUDGED, "tests/tpu/"),
    "gpu": (*_JUDGED, "tests/gpu/", "gpu-compiler.txt", "app/learning/calculators/", "lessons/"),
}
# The files of a leg alone, and what installs its compiler.
OWN = {
    "next-jax": ("next-jax.txt",),
    "tpu": ("tests/tpu/", "uv.lock"),
    "gpu": ("tests/gpu/", "gpu-compiler.txt"),
}
INSTALLED = ("tpu", "gpu")


def to_run() -> list[str]:
    """The legs of this run. Prints a line for each that is left out."""
    chosen = [leg for leg, files in LEGS.items() if has_changed(*files)]
    for leg in LEGS.keys() - set(chosen):
        print(
            f"Left out: ./meshgrade test --{leg}, because nothing that it depends on has changed since {base()}: "
            f"{', '.join(LEGS[leg])}. It runs with --all.",
            file=sys.stderr,
        )
    return chosen


def run(legs: list[str]) -> int:
    """Run these legs, and return the exit status."""
    failed, warnings = [], []
    for leg in legs:
        if leg in INSTALLED and _fails(f"install-{leg}"):
            message = f"The compiler for {leg.upper()}s could not be installed, so the tests that need it did not run."
            (failed if has_changed(*OWN[leg]) else warnings).append(message)
        elif _fails("test", f"--{leg}"):
            failed.append(f"./meshgrade test --{leg} failed.")
    for each in warnings:
        print(f"WARNING: {each}", file=sys.stderr)
    for each in failed:
        print(f"FAILED: {each}", file=sys.stderr)
    return 1 if failed else 0


def _fails(*arguments: str) -> bool:
    return subprocess.run(["./meshgrade", *arguments], cwd=CHECKOUT, check=False).returncode != 0


if __name__ == "__main__":
    sys.exit(run(to_run()))
