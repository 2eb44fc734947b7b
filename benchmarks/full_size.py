"""How long a step of a real model's size takes to compile: `python -m benchmarks.full_size [--rounds NUMBER]`.

Each example of the Explorer that names a chip goes through `./meshgrade explore`: first for host devices alone, then
also for a slice of H100s and one of v5e, if `./meshgrade install-gpu` and `install-tpu` have installed the compilers.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from app.learning.explorer.examples import Example, all_examples
from benchmarks.errors import BenchmarkFailed
from benchmarks.machine import describe_machine
from benchmarks.workload import CHECKOUT
from grader.core.chips import CHIPS, compiler_of
from grader.core.errors import MeshgradeError

_CHIPS = ("h100", "v5e")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the examples of a real model's size.")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is compiled (default: %(default)s)")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be 1 or more")
    for example in all_examples():
        if example.chip is None:
            continue
        for options in ([], *(["--chip", chip] for chip in _CHIPS if compiler_of(CHIPS[chip].platform))):
            taken, found = zip(*(_explore(example, options) for _ in range(rounds)), strict=True)
            on_chip = found[0].get("on_chip")
            where = " ".join(["host devices", *options])
            print(
                f"{example.title}, {where}: median {statistics.median(taken):.1f} s",
                f"({', '.join(f'{each:.1f}' for each in taken)})",
                on_chip["compiler"] if on_chip else "",
                flush=True,
            )
    print(json.dumps(describe_machine()))


def _explore(example: Example, options: list[str]) -> tuple[float, dict[str, Any]]:
    """Run `./meshgrade explore`. Returns the seconds that it took and the program that it printed."""
    function = example.function
    inputs = [part for line in function.inputs_text.splitlines() for part in ("--input", line)]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "step.py"
        source.write_text(example.source, encoding="utf-8")
        command = ["./meshgrade", "explore", str(source), function.name, "--mesh", function.mesh_text]
        started = time.monotonic()
        done = subprocess.run([*command, *inputs, *options, "--json"], cwd=CHECKOUT, capture_output=True, text=True)
        taken = time.monotonic() - started
    program = json.loads(done.stdout)[0] if done.returncode == 0 else {}
    if not program or (options and not program["on_chip"]["program"]):
        raise BenchmarkFailed(f"{example.title} {' '.join(options)}: {done.stderr or program['on_chip']['fault']}")
    return taken, program


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
