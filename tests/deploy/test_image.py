"""The Dockerfile is small, pinned and without root, by the rules of a Dockerfile linter; no Docker daemon is needed."""

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from app.core.settings import Settings
from app.entry.cli.__main__ import COMMANDS
from tests.faults import for_each

CHECKOUT = Path(__file__).resolve().parents[2]
Instruction = tuple[str, str]


def read_instructions(text: str) -> list[Instruction]:
    """(`RUN`, the rest of it), with continuations joined and comments dropped."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [
        (word.upper(), re.sub(r"\s+", " ", rest).strip())
        for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


ALL = read_instructions((CHECKOUT / "Dockerfile").read_text())
STAGES = [number for number, (word, _) in enumerate(ALL) if word == "FROM"]
FINAL = ALL[STAGES[-1] :]


def rests(word: str, instructions: list[Instruction]) -> list[str]:
    return [rest for each, rest in instructions if each == word]


def test_what_is_built_with_is_not_shipped():
    assert len(STAGES) == 2
    assert not [run for run in rests("RUN", FINAL) if "pip " in run or "uv " in run]
    assert [copy for copy in rests("COPY", FINAL) if copy.startswith("--from=build ")]


def test_every_base_is_pinned_to_a_release():
    [image] = {rest.split()[0] for rest in rests("FROM", ALL)}
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-[a-z-]+\$\{PYTHON_DIGEST\}", image), image


def test_the_base_can_be_pinned_to_a_digest():
    """Docker reads an argument of a base only above the first one. Without a digest, the release alone counts."""
    assert ALL.index(("ARG", "PYTHON_DIGEST=")) < STAGES[0]
    assert "`PYTHON_DIGEST=@sha256:" in (CHECKOUT / "deploy" / "README.md").read_text()


@pytest.mark.parametrize(("chip", "needs"), [("GPU", "gpu-compiler.txt"), ("TPU", "--extra tpu")])
def test_a_compiler_for_chips_is_installed_only_if_asked_for(chip, needs):
    assert f"{chip}_COMPILER=no" in rests("ARG", ALL[: STAGES[-1]])
    [install] = [run for run in rests("RUN", ALL) if f'[ "${chip}_COMPILER" = no ] ||' in run]
    assert needs in install
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert "tpu" in extras
    assert f"--build-arg {chip}_COMPILER=yes" in (CHECKOUT / "deploy" / "README.md").read_text()


def test_nothing_is_compiled_when_it_starts():
    """The image is read-only. `problems` is left out: what a folder contains decides a problem's version."""
    assert all("--compile-bytecode" in run for run in rests("RUN", ALL) if "uv sync" in run)
    [compiles] = [run for run in rests("RUN", FINAL) if "compileall" in run]
    assert 'sysconfig.get_path("stdlib")' in compiles
    assert compiles.count("--invalidation-mode unchecked-hash") == 2
    assert compiles.endswith("app grader migrations")
    words = [word for word, _ in FINAL]
    assert FINAL.index(("RUN", compiles)) > max(number for number, word in enumerate(words) if word == "COPY")


def test_what_pip_installs_is_pinned_and_the_rest_is_locked():
    for run in rests("RUN", ALL):
        for package in re.findall(r"pip install --no-cache-dir (\S+)", run):
            assert re.fullmatch(r"\w+==[\d.]+", package)
        if "uv pip install" in run:
            assert "--no-cache " in run
            assert "--no-deps --require-hashes" in run
        else:
            assert "pip install" not in run or "--no-cache-dir" in run
    assert any("uv sync --frozen --no-dev" in run for run in rests("RUN", ALL))


def test_apt_leaves_nothing_behind():
    for run in rests("RUN", ALL):
        if "apt-get" in run:
            assert "apt-get install -y --no-install-recommends" in run
            assert "rm -rf /var/lib/apt/lists/*" in run
            assert "upgrade" not in run


def test_the_walls_are_installed():
    assert any({"bubblewrap", "libseccomp2"} <= set(run.split()) for run in rests("RUN", FINAL))


def test_it_does_not_run_as_root():
    [user] = rests("USER", FINAL)
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    words = [word for word, _ in FINAL]
    # No later line can create anything as root.
    assert not {"RUN", "COPY", "ADD"} & set(words[words.index("USER") :])
    assert not any(f"--chown={user}" in rest for rest in rests("COPY", FINAL))


def test_nothing_is_fetched_or_unpacked_on_the_way_in():
    assert rests("ADD", ALL) == []
    assert not [run for run in rests("RUN", ALL) if re.search(r"\b(curl|wget|sudo|chmod 777)\b", run)]


def test_no_secret_can_stay_in_a_layer():
    for word in ("ARG", "ENV"):
        for rest in rests(word, ALL):
            assert not re.search(r"TOKEN|PASSWORD|SECRET|DATABASE_URL", rest)


@pytest.mark.parametrize("word", ["CMD", "ENTRYPOINT"])
def test_no_shell_stands_between_a_signal_and_the_service(word):
    [rest] = rests(word, FINAL)
    assert all(isinstance(part, str) for part in json.loads(rest))


def test_the_command_exists():
    [entry], [command] = rests("ENTRYPOINT", FINAL), rests("CMD", FINAL)
    assert json.loads(entry) == [".venv/bin/python", "-m", "app.entry.cli"]
    assert json.loads(command)[0] in COMMANDS


def test_its_health_is_asked_for_without_a_shell():
    [check] = rests("HEALTHCHECK", FINAL)
    options, _, command = check.partition(" CMD ")
    assert {"--interval", "--timeout", "--start-period", "--retries"} == {
        option.partition("=")[0] for option in options.split()
    }
    [_, dash_c, code] = json.loads(command)
    assert dash_c == "-c"
    compile(code, "healthcheck", "exec")
    [port] = rests("EXPOSE", FINAL)
    assert f"http://127.0.0.1:{port}/healthz" in code
    assert Settings.model_fields["port"].default == int(port)


def test_our_code_comes_after_what_changes_less_often():
    build = ALL[: STAGES[-1]]
    install = next(number for number, (_, rest) in enumerate(build) if "uv sync" in rest)
    assert rests("COPY", build[:install]) == ["pyproject.toml uv.lock ./"]
    order = [copy.split()[-1] for copy in rests("COPY", FINAL)]
    assert order[0] == ".venv"
    assert order[-1] == "app"


def test_every_setting_that_the_image_makes_exists():
    names = re.findall(r"MESHGRADE_(\w+)=", " ".join(rests("ENV", FINAL)))
    assert names
    assert {name.lower() for name in names} <= set(Settings.model_fields)


def ignored(path: str) -> bool:
    """Read .dockerignore as Docker does, as far as ours needs it: the last line that matches decides."""
    found = False
    for line in (CHECKOUT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        parts = path.split("/")
        heads = ["/".join(parts[: number + 1]) for number in range(len(parts))]
        if pattern.startswith("**/"):
            matches = any(fnmatch(part, pattern[3:]) for part in parts)
        else:
            matches = any(fnmatch(head, pattern) and head.count("/") == pattern.count("/") for head in heads)
        if matches:
            found = not line.startswith("!")
    return found


@for_each(
    "path",
    [
        *(".git/config", ".venv/bin/python", ".meshgrade/judge/secret", "data/secret", "data/meshgrade.sqlite3"),
        *("tests/conftest.py", "node_modules/x", ".env", "app/.env.local", "app/__pycache__/x.pyc", "deploy/README.md"),
    ],
)
def test_what_is_not_for_the_image_does_not_even_get_near(path):
    assert ignored(path)


def test_what_is_copied_gets_in_and_exists():
    for copy in rests("COPY", ALL):
        if copy.startswith("--from"):
            continue
        for source in copy.split()[:-1]:
            assert (CHECKOUT / source).exists(), source
            assert not ignored(source), source
    service = "app/entry/cli/__main__.py", "app/core/static/base.css"
    for needed in (*service, "problems/fsdp_step/problem.toml", "lessons/order.toml", "uv.lock"):
        assert not ignored(needed), needed
