"""What the examples of the Explorer compile to: app/learning/explorer/example_results.json, which the page draws.

After a deliberate change, compile them again: `.venv/bin/python -m tests.grader.explorer.example_results`
"""

import json
import tempfile
from pathlib import Path

from app.learning.explorer.examples import RESULTS, all_examples
from grader.explorer.description import explored
from grader.explorer.exploration import Explored, ExploredArray, ExploredComputation
from grader.judging.judge import Judge
from grader.sandbox.build import build_sandbox

# A longer listing is left out of the file: the page shows it once the reader compiles the example.
_MOST_INSTRUCTIONS = 120


def without_long_listings(result: Explored) -> Explored:
    """The result as it ships."""
    programs = [
        each.model_copy(
            update={
                "hlo": _short(each.hlo),
                "stablehlo": _short(each.stablehlo),
                "jaxpr": _short(each.jaxpr),
                "arrays": _few(each.arrays),
            }
        )
        for each in result.programs
    ]
    return result.model_copy(update={"programs": programs})


def _short(listing: list[ExploredComputation]) -> list[ExploredComputation]:
    return listing if sum(len(each.instructions) for each in listing) <= _MOST_INSTRUCTIONS else []


def _few(arrays: list[ExploredArray]) -> list[ExploredArray]:
    return arrays if len(arrays) <= _MOST_INSTRUCTIONS else []


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, build_sandbox(Path(folder)) as sandbox:
        judge = Judge(sandbox, b"a secret of the tests, 32 bytes.", Path(folder))
        found = {
            each.slug: without_long_listings(explored(judge.inspect_function(each.function, each.source)))
            for each in all_examples()
        }
    lines = (f"{json.dumps(slug)}: {result.model_dump_json()}" for slug, result in found.items())
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
