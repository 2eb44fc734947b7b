"""Compile submissions of a problem with a full size for its mesh, and write what they need, as JSON.

Run in a process of its own with as many host devices as that mesh has.
Usage: at_full_size.py PROBLEM_FOLDER NAME... OUTPUT_FILE
"""

import json
import sys
from pathlib import Path
from typing import Any

from grader.package.reader import read_package
from grader.program.measured import Measured
from grader.runner.export import export_program
from grader.runner.submission import Submission
from grader.verifier.load import load
from grader.verifier.measure import facts_of
from tests.problems.measured import Programs


def measure(folder: Path, name: str) -> dict[str, int | None]:
    """The bytes that a device needs, its temporaries, and its FLOPs. The names are those of files, without .py."""
    package = read_package(folder)
    spec = package.manifest.program
    small = Programs(folder).signature("public-1")
    args: list[dict[str, Any]] = [
        arg | {"shape": spec.full_size.shapes[path]} for path, arg in zip(small.inputs, small.args, strict=True)
    ]
    request = {"mesh": spec.full_size.mesh, "init": None, "export_init": False, "seeds": [], "args": args}
    exported = export_program(Submission.load(package.files[f"{name}.py"], package.manifest.entry), request)
    inputs = [{"shape": arg["shape"], "dtype": arg["dtype"]} for arg in args]
    facts = facts_of(load(exported.artifact, spec.full_size.mesh, inputs, 0))
    outputs = tuple(exported.outputs)
    program = Measured(spec.full_size.mesh, facts, None, (), small.inputs, outputs, {}, False)
    return {
        "needed": program.needed_bytes,
        "temporaries": facts.memory.temporary_bytes,
        "flops": facts.census.dot_flops,
    }


def main() -> None:
    folder, *names, output = sys.argv[1:]
    Path(output).write_text(json.dumps({name: measure(Path(folder), name) for name in names}), encoding="utf-8")


if __name__ == "__main__":
    main()
