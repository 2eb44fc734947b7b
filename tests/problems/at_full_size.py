"""Compile submissions of a problem with a full size for its mesh, and write what a device needs, as JSON.

Run in a process of its own with as many host devices as that mesh has.
Usage: at_full_size.py PROBLEM_FOLDER NAME... OUTPUT_FILE
"""

import json
import sys
from pathlib import Path

from tests.problems.measured_programs import Programs


def main() -> None:
    folder, *names, output = sys.argv[1:]
    programs = {name: Programs(Path(folder)).at_full_size(name) for name in names}
    found = {
        name: {"needed": each.measured.needed_bytes, "temporaries": each.temporaries, "flops": each.flops}
        for name, each in programs.items()
    }
    Path(output).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
