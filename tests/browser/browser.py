"""Start Debian's Chromium and the real service. The screenshot script uses this, too."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CHECKOUT = Path(__file__).parents[2]
_NULL = CHECKOUT / "tests" / "app" / "entry" / "cli" / "serve_null.py"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMIUM_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Chromium refuses to run as root inside its own sandbox; the pages it opens here are ours.
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]
OWNER_TOKEN = "owner-token-of-the-browser-tests"


@dataclass(frozen=True, slots=True)
class Service:
    """A running server: its address, the link that signs in one browser once, and its data folder."""

    url: str
    sign_in_url: str
    data: Path


def copy_problems(folder: Path) -> None:
    """Copy one problem of each mode in which students write code."""
    for slug in ("fsdp_step", "psum_scatter_mean"):
        shutil.copytree(CHECKOUT / "problems" / slug, folder / slug)


@contextmanager
def serve(
    data: Path,
    *,
    all_problems: bool = False,
    problems: Path | None = None,
    judge: Literal["everything", "answers", "nothing"] = "everything",
) -> Iterator[Service]:
    """Run `meshgrade serve` on a free port until the block ends.

    Args:
      all_problems: serve all problems instead of one of each mode. The service prepares every problem it serves.
      problems: the folder of other packages to serve instead.
      judge: what the real judge grades. Of the rest, exactly the text of a reference is accepted, and nothing is run.
    """
    program = ["-m", "app.entry.cli"] if judge == "everything" else [str(_NULL)]
    command = [sys.executable, *program, "serve", "--port", "0", "--data", str(data)]
    if problems is None and all_problems:
        problems = CHECKOUT / "problems"
    elif problems is None:
        problems = data.with_name("problems")
        copy_problems(problems)
        # An author may begin with the background, which the page folds.
        statement = problems / "fsdp_step" / "statement.md"
        task, heading, background = statement.read_text(encoding="utf-8").partition("## Why this matters\n")
        statement.write_text(f"{heading}{background}\n{task}", encoding="utf-8")
    environment = {**os.environ, "MESHGRADE_OWNER_TOKEN": OWNER_TOKEN, "MESHGRADE_PROBLEMS": str(problems)}
    # Keep the sign-in recent, so that a test after a quarter of an hour needs no other one.
    environment["MESHGRADE_CONFIRM_AFTER_MINUTES"] = "600"
    environment["MESHGRADE_API_PROCESSES"] = "1"
    if judge != "everything":
        environment["PYTHONPATH"] = str(CHECKOUT)
    if judge == "answers":
        environment["JUDGE_ANSWERS"] = "1"
    log = data.with_name(f"{data.name}.log")
    with log.open("w") as errors:
        server = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
        )
        try:
            yield Service(*read_addresses(server, log), data)
        finally:
            server.terminate()
            server.communicate(timeout=60)


def read_addresses(server: subprocess.Popen[str], log: Path) -> tuple[str, str]:
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        if link := re.search(r"(http://\S+?)/sign-in\?token=\S+", line):
            return link[1], link[0]
    raise RuntimeError(f"the service ended before it printed a sign-in link.\n{said}\n{log.read_text()}")
