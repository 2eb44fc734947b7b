"""Compile the requests of a folder as the lens does, and write how that differs from the lens's own program, as JSON.

Usage: compared_with_itself.py FOLDER OUTPUT_FILE. The folder also has the lens's programs, in lens.json.
"""

import json
import sys
from pathlib import Path

from benchmarks.real_gpu import compiled
from grader.core.chips import CHIPS
from grader.program.differences_between_chips import compare_on_chip
from grader.program.on_chip import from_json
from grader.verifier.chip import find_compiler

if __name__ == "__main__":
    find_compiler("gpu")
    folder = Path(sys.argv[1])
    requests, programs = (json.loads((folder / name).read_text()) for name in ("requests.json", "lens.json"))
    found = {
        request["file"]: [
            each.text for each in compare_on_chip(from_json(lens), compiled(folder, request, None), CHIPS["h100"])
        ]
        for request, lens in zip(requests, programs, strict=True)
    }
    Path(sys.argv[-1]).write_text(json.dumps(found), encoding="utf-8")
