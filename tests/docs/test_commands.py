"""Every command of the documentation is run as it is printed, or has a reason below why it cannot be.

A page is followed from its start to its end by one reader in one shell. What the page shows as output is compared by
its words; a file that it has the reader write (the second word of a fence's info string) is written. Judging is real in
four tutorials and in `judge`, `inspect` and `doctor`; elsewhere the service compares texts with the reference. A run
follows the pages whose blocks changed, and one in sixteen (tests/selection.py).
"""

import ast
import json
import re
from pathlib import Path

import pytest
import yaml

from tests.docs.conftest import Follow
from tests.docs.pages import CHECKOUT, PAGES, Block, blocks, blocks_in, commands, names
from tests.docs.reader import Done, Reader
from tests.faults import for_each
from tests.selection import SIXTEEN, digest_of, has_changed, is_drawn, parameters, text_before

# Of one page, on a busy machine.
pytestmark = [pytest.mark.xdist_group("docs"), pytest.mark.timeout(900)]

_ITSELF = "it runs these tests"
_MEASURES = "it measures for minutes, and only a quiet machine gives numbers worth comparing"
_DOCKER = "it needs a Docker daemon and the network; tests/deploy reads the image and the Compose file"
_INSTALLS = "it installs packages on the machine"
_SYSTEMD = "it sets up a machine with systemd; tests/deploy reads the units"
_PUBLISHES = "it changes a public repository"
NOT_RUN = {
    "sudo apt-get install --yes bubblewrap libseccomp2 postgresql": _INSTALLS,
    (
        "sudo -u postgres psql --command \"CREATE USER meshgrade PASSWORD 'password'\" "
        '--command "CREATE DATABASE meshgrade OWNER meshgrade"'
    ): "it changes the machine's PostgreSQL; the tests have one of their own",
    "./meshgrade problem check problems": "it judges every submission; another command of the page judges one package",
    "./meshgrade problem sync https://github.com/course/problems.git --branch main": (
        "it needs the network; tests/app/authoring/repositories has a server of its own"
    ),
    "./meshgrade problem sync": "it needs the repository of the command before it",
    "time ./meshgrade problem check psum_scatter_mean --fresh": _MEASURES,
    "git pull": "it needs a newer release",
    "./meshgrade test": _ITSELF,
    "./meshgrade install-gpu": "it installs 0.5 GB; `./meshgrade test --gpu` does it as well",
    "./meshgrade install-tpu": "it installs 0.7 GB; `./meshgrade test --tpu` does it as well",
    "sed -i 's/\">=3.11,/\">=3.12,/' pyproject.toml && uv add --requirements next-jax.txt": (
        "it installs another JAX; tests/test_lock.py reads both files"
    ),
    'git tag --annotate v0.2.0 --message "Meshgrade 0.2.0" && git push origin main v0.2.0': _PUBLISHES,
    """docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \\
  --security-opt seccomp=deploy/docker-seccomp.json --security-opt apparmor=unconfined \\
  --init -p 127.0.0.1:8000:8000 -v meshgrade-data:/data meshgrade:0.2.0""": _DOCKER,
    "useradd --system --home-dir /var/lib/meshgrade --shell /usr/sbin/nologin meshgrade": _SYSTEMD,
    "install -d -m 0700 -o meshgrade /var/backups/meshgrade": _SYSTEMD,
    "install -d -m 0755 /etc/meshgrade": _SYSTEMD,
    "install -m 0600 /dev/null /etc/meshgrade/environment": _SYSTEMD,
    "cp deploy/systemd/* /etc/systemd/system/ && systemctl daemon-reload": _SYSTEMD,
    "systemctl enable --now meshgrade.service meshgrade-backup.timer": _SYSTEMD,
    "journalctl -u meshgrade": _SYSTEMD,
    "systemctl stop meshgrade.service": _SYSTEMD,
    "git pull && ./meshgrade doctor": _SYSTEMD,
    "set -a && . /etc/meshgrade/environment && set +a": _SYSTEMD,
    "runuser -u meshgrade -- .venv/bin/python -m app.entry.cli migrate --data /var/lib/meshgrade": _SYSTEMD,
    "systemctl start meshgrade.service": _SYSTEMD,
    "mount -t tmpfs -o size=400m tmpfs /mnt": "it changes the machine",
    "docker compose up --detach --build": _DOCKER,
    "docker compose logs api": _DOCKER,
    "docker compose exec database sh /docker-entrypoint-initdb.d/roles.sh": _DOCKER,
    ".venv/bin/python -m tests.mutation grader/checks/compare.py": _ITSELF,
    ".venv/bin/python -m tests.mutation grader/checks --part 1/4": _ITSELF,
    ".venv/bin/python -m tests.mutation grader/program --part 3/12": _ITSELF,
    "./meshgrade bench": _MEASURES,
    "./meshgrade bench --json >results.json": _MEASURES,
    "./meshgrade bench --only diverse": _MEASURES,
}
# Not run either: each of them measures for minutes. A test below reads their options.
_BENCHMARK = re.compile(r"^(?:\w+=\S+ )*\.venv/bin/python -m benchmarks\.(\w+)((?:.|\\\n)*)$")
# Steps that the reader of a page has taken before.
GIVEN = {
    "README.md": ["cp problems/fsdp_step/reference.py solution.py"],
    "docs/accounts.md": [
        "./meshgrade serve",
        "printf 'ben\\ncleo\\n' >class.txt",
    ],
    "docs/command_line.md": ["./meshgrade serve"],
    "docs/rest.md": ["cp problems/fsdp_step/reference.py solution.py"],
}
POSTGRESQL = {"README.md", "docs/operating.md", "docs/tutorials/operator.md"}
# Pages for a machine where Meshgrade has never run, with a real judge.
TUTORIALS = {
    "docs/tutorials/course.md",
    "docs/tutorials/student.md",
    "docs/tutorials/instructor.md",
    "docs/authoring.md",
}
FRESH = TUTORIALS | {"docs/tutorials/operator.md"}
ALL_GATHER = {"all_gather_tiled": ["not_tiled.py"]}
# A wrong submission ends `judge`, `run` and `submit` with 1, and an unfinished package `problem check`.
_MAY_REJECT = re.compile(r"^\./meshgrade (?:judge|run|submit|problem check) ")

_JUDGES = re.compile(r"^\./meshgrade (?:judge all_gather_tiled|inspect|doctor)\b")
WITH_COMMANDS = [page for page in PAGES if any(block.language == "sh" for block in blocks(page))]


def _is_followed(name: str) -> bool:
    """Whether its commands, output or files changed, or it is drawn: one page in sixteen, or in four if something that
    all pages use changed.
    """
    text = (CHECKOUT / name).read_text(encoding="utf-8")
    if has_changed(name) and blocks_in(text_before(name) or "") != blocks_in(text):
        return True
    return is_drawn(digest_of(text), 4 if has_changed("app/entry/cli/", "tests/docs/") else SIXTEEN)


FOLLOWED = [name for name in map(names, WITH_COMMANDS) if _is_followed(name)]


def listed(page: Path) -> list[str]:
    return [command for block in blocks(page) if block.language == "sh" for command in commands(block.text)]


@pytest.mark.parametrize("name", parameters(FOLLOWED))
def test_following_the_page(name: str, follow: Follow, judged: dict[str, Done]) -> None:
    with follow(
        problems=ALL_GATHER if name in TUTORIALS else ALL_GATHER | {"fsdp_step": ["half_of_it.py"]},
        judge=name in TUTORIALS,
        fresh=name in FRESH,
        postgresql=name in POSTGRESQL,
    ) as reader:
        for command in GIVEN.get(name, []):
            assert reader.run(command).status == 0, command
        follow_blocks(blocks(CHECKOUT / name), reader, judged)


def follow_blocks(of_page: list[Block], reader: Reader, judged: dict[str, Done]) -> None:
    everything = output = ""
    elsewhere = []
    for block in of_page:
        if block.file:
            reader.write(block.file, block.text)
        elif block.language == "sh":
            output = ""
            for command in commands(block.text):
                if command not in NOT_RUN and not _BENCHMARK.match(command):
                    done = judged.get(command) or reader.run(command)
                    if _JUDGES.match(command):
                        judged[command] = done
                    assert succeeded(command, done), f"{command}\nstatus {done.status}\n{done.output}"
                    output += done.output
            everything += output
        elif block.language == "output":
            if not output:
                elsewhere.append(block.text)
            else:
                assert unlike(block.text, output) == [], output
                output = ""
    # Seen in the browser, which shows what a later command prints.
    for shown in elsewhere:
        assert unlike(shown, everything) == [], everything


def succeeded(command: str, done: Done) -> bool:
    return done.status == 0 or (done.status == 1 and _MAY_REJECT.match(command) is not None)


def unlike(shown: str, output: str) -> list[str]:
    """The lines of `shown` most of whose words occur in no three lines of the output. Numbers may differ, and `…` is
    what the page leaves out.
    """
    lines = output.splitlines()
    windows = [words("\n".join(lines[start : start + 3])) for start in range(len(lines))]
    return [
        line
        for line in shown.splitlines()
        if (wanted := words(line)) and max((len(wanted & seen) / len(wanted) for seen in windows), default=0) < 0.8
    ]


def words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]{3,}", text))


def test_a_command_that_is_not_run_is_in_the_documentation() -> None:
    assert NOT_RUN.keys() - {command for page in PAGES for command in listed(page)} == set()


def test_benchmarks_take_the_options_that_the_documentation_gives() -> None:
    given = {match.groups() for page in PAGES for each in listed(page) if (match := _BENCHMARK.match(each))}
    assert len(given) > 10
    unknown = {
        (module, option)
        for module, arguments in given
        for option in re.findall(r"--[\w-]+", arguments)
        if f'"{option}"' not in (CHECKOUT / "benchmarks" / f"{module}.py").read_text(encoding="utf-8")
    }
    assert unknown == set()


@for_each("page", PAGES, ids=names)
def test_data_and_python_can_be_read(page: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "python":
            ast.parse(block.text)
        elif block.language == "yaml":
            yaml.safe_load(block.text)


def test_every_fence_says_what_is_in_it() -> None:
    """A command in a fence without a language would not be run."""
    known = {"sh", "output", "text", "json", "python", "toml", "yaml", "markdown", "mermaid"}
    found = {(names(page), block.language) for page in PAGES for block in blocks(page)}
    assert {(page, language) for page, language in found if language not in known} == set()


def test_output_that_differs_is_found() -> None:
    printed = "accepted  Rebuild a parameter  100 of 100 points\npassed  40/40  The whole parameter\n"
    assert unlike("accepted  Rebuild a parameter  90 of 100 points\n…\n", printed) == []
    assert unlike("rejected (wrong shape)  Rebuild\n", printed) == ["rejected (wrong shape)  Rebuild"]
    assert unlike("anything", "") == ["anything"]
