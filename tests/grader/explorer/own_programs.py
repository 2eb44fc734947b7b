"""The programs of docs/bring_your_own.md, and what the Explorer prints of them, as the page shows it.

`python -m tests.prove` starts it (tests/prove/measuring.py). `python -m tests.write` fills the page after a deliberate
change.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator
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


def by_name() -> dict[str, Exploration]:
    """The commands by their files, such as `pipeline`, and `pipeline-2` if there is another one of the same file."""
    found: dict[str, Exploration] = {}
    for each in explorations():
        stem = Path(each.file).stem
        number = 1 + sum(one.file == each.file for one in found.values())
        found[stem if number == 1 else f"{stem}-{number}"] = each
    return found


def printed(judge: Judge, exploration: Exploration) -> str:
    """What `explore` prints of it in a terminal of 100 columns."""
    [measured] = judge.inspect_function(exploration.function, exploration.source)
    with _columns(COLUMNS), contextlib.redirect_stdout(io.StringIO()) as output:
        print_program(measured)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def without_leaves(text: str) -> str:
    """The part that the page shows: collectives, memory and FLOPs."""
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("collective  "))
    # If the terminal is narrow, names of columns take two lines.
    if lines[first - 1].lstrip().startswith("over"):
        first -= 1
    return "".join(lines[first:]).rstrip("\n") + "\n"


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


@contextlib.contextmanager
def prepared() -> Iterator[Judge]:
    """The judge that all programs share."""
    with tempfile.TemporaryDirectory() as folder, build_sandbox(Path(folder)) as sandbox:
        yield Judge(sandbox, b"a secret of the tests, 32 bytes.", Path(folder))


def measure(name: str, judge: Judge) -> str:
    """What `explore` prints of a program."""
    return printed(judge, by_name()[name])


def filled(outputs: Iterable[str]) -> str:
    """The page with these outputs, in the order of its commands."""
    waiting = iter(outputs)
    return re.sub(
        r"^```output\n.*?^```$",
        lambda _: f"```output\n{without_leaves(next(waiting))}```",
        PAGE.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
