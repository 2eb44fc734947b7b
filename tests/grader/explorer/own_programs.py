"""The programs of docs/bring_your_own.md, and what the Explorer prints of them, as the page shows it.

After a deliberate change, fill the page again: `.venv/bin/python -m tests.grader.explorer.own_programs`
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.entry.cli.program_text import print_program
from grader.inputs.explored_function import Function, read_function
from grader.judging.judge import Judge
from grader.sandbox.build import build_sandbox
from tests.docs.pages import CHECKOUT, FENCE, commands

PAGE = CHECKOUT / "docs" / "bring_your_own.md"
COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Exploration:
    """A command of the page: what it compiles, the output that the page shows, and the prose up to the next command."""

    file: str
    source: str
    function: Function
    shown: str
    prose: str

    @property
    def id(self) -> str:
        return f"{self.file} {self.function.mesh_text}"


def explorations() -> list[Exploration]:
    found: list[Exploration] = []
    sources: dict[str, str] = {}
    # The text between fences, and of each fence its indentation, its info string and its text.
    _, *parts = re.split(FENCE, PAGE.read_text(encoding="utf-8"))
    command = ""
    for info, text, prose in zip(parts[1::4], parts[2::4], parts[3::4], strict=True):
        language, _, file = info.partition(" ")
        if language == "python":
            sources[file] = text
        elif language == "sh":
            [command] = commands(text)
        elif language == "output":
            name, function = _read(command)
            about = prose.partition("\n## ")[0]
            found.append(Exploration(name, sources[name], function, text, about))
    return found


def printed(judge: Judge, exploration: Exploration) -> str:
    """What `explore` prints of it in a terminal of 100 columns."""
    [measured] = judge.inspect_function(exploration.function, exploration.source)
    with _columns(COLUMNS), contextlib.redirect_stdout(io.StringIO()) as output:
        print_program(measured)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def without_leaves(text: str) -> str:
    """The part that the page shows: collectives, memory and FLOPs."""
    return text[text.index("collective  ") :].rstrip("\n") + "\n"


def _read(command: str) -> tuple[str, Function]:
    parser = argparse.ArgumentParser()
    for name in ("meshgrade", "explore", "file", "function"):
        parser.add_argument(name)
    parser.add_argument("--mesh")
    parser.add_argument("--input", action="append")
    given = parser.parse_args(shlex.split(command.replace("\\\n", " ")))
    return given.file, read_function(given.function, given.mesh, "\n".join(given.input))


@contextlib.contextmanager
def _columns(number: int) -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(number)
    yield
    if before is None:
        del os.environ["COLUMNS"]
    else:
        os.environ["COLUMNS"] = before


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, build_sandbox(Path(folder)) as sandbox:
        judge = Judge(sandbox, b"a secret of the tests, 32 bytes.", Path(folder))
        outputs = [without_leaves(printed(judge, each)) for each in explorations()]
    filled = iter(outputs)
    text = re.sub(
        r"^```output\n.*?^```$", lambda _: f"```output\n{next(filled)}```", text, flags=re.DOTALL | re.MULTILINE
    )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
