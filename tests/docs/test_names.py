"""Everything that the guides name exists: files, links, commands, options, routes, settings, modules.

Each test reads every page, and lists all that is wrong with file and line.
"""

import importlib
import importlib.util
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.routing import iter_route_contexts
from typer.main import get_command

from app.core.settings import Settings
from app.entry.cli.__main__ import COMMANDS as PRODUCT
from app.entry.cli.__main__ import command_of
from app.entry.main import create_app
from tests.docs.pages import CHECKOUT, PAGES, faults_of, links, prose, shell_lines, spans
from tests.faults import assert_none

_OF_THE_CHECKOUT = {"bench": "benchmarks.__main__", "test": "tests.__main__"}
COMMANDS = (*PRODUCT, *_OF_THE_CHECKOUT)
# Names in a changelog may no longer exist, but its links must lead somewhere.
LINKED = [*PAGES, CHECKOUT / "CHANGELOG.md"]
# Pages about our own command line alone: an option that they name is one of ours.
OURS = [
    CHECKOUT / "README.md",
    *(CHECKOUT / "docs" / f"{name}.md" for name in ("command_line", "operating", "settings", "accounts", "design")),
]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for pattern in ("app/**/*.py", "grader/**/*.py", "tests/**/*.py", "benchmarks/**/*.py", "meshgrade", "compose.yaml")
    for path in CHECKOUT.glob(pattern)
    if path != Path(__file__)
)

_TOP = {path.name for path in CHECKOUT.iterdir() if not path.name.startswith(".")} | {".ci"}
_MADE = {"data", "node_modules"}  # by running something


def test_every_file_and_folder_exists() -> None:
    def missing(page: Path) -> Iterator[str]:
        for span in spans(page):
            path = span.partition(" ")[0].partition("#")[0]
            top = path.partition("/")[0]
            if "/" not in path or top not in _TOP - _MADE or re.search(r"[<>*{}…:]|\.\.\.", path):
                continue
            if not (CHECKOUT / path).exists():
                yield span

    assert_none(faults_of(missing))


def test_every_module_that_is_run_exists() -> None:
    def missing(page: Path) -> Iterator[str]:
        text = page.read_text(encoding="utf-8")
        modules = [each for each in re.findall(r"python -m ([\w.]+)", text) if each.partition(".")[0] in _TOP]
        modules += [span for span in spans(page) if re.fullmatch(r"benchmarks\.\w+", span)]
        return (each for each in modules if importlib.util.find_spec(each) is None)

    assert_none(faults_of(missing))


def test_every_link_leads_somewhere() -> None:
    def broken(page: Path) -> Iterator[str]:
        for target in links(page):
            if target.startswith(("https://", "http://")):
                continue
            file, _, anchor = target.partition("#")
            path = (page.parent / file).resolve() if file else page
            if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
                yield target

    assert_none(faults_of(broken, LINKED))


@cache
def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    text = prose(page)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_and_option_exists() -> None:
    def wrong(page: Path) -> Iterator[str]:
        for line in [*shell_lines(page), *spans(page)]:
            if not re.search(r"(?:^|[ ;|=])(?:\./)?meshgrade [a-z-]", line):
                continue
            for part in re.findall(r"(?:^|(?<=[ ;|=]))(?:\./)?meshgrade ((?:[^;|&#>]|\|(?! ))+)", line):
                yield from (f"{line}: {fault}" for fault in faults(part))

    assert_none(faults_of(wrong))


def faults(call: str) -> Iterator[str]:
    """Commands and options in a call of `meshgrade` that do not exist. `[--port PORT]` in a synopsis counts as well."""
    words = shlex.split(call.replace("[", " ").replace("]", " "), comments=True)
    command: Any = None
    for word in words:
        if word == "--":
            return
        if word.startswith("-"):
            option = word.partition("=")[0]
            if option not in (options(command) if command else {"--help", "--version", "--install-completion"}):
                yield f"no option {option}"
        elif command is None:
            if word not in COMMANDS:
                yield f"no command {word}"
                return
            command = the_command(word)
        elif commands := getattr(command, "commands", None):
            if word not in commands:
                yield f"no command {word}"
                return
            command = commands[word]


def test_every_option_of_a_command_that_is_named_without_the_program_exists() -> None:
    """`login --token-stdin`"""

    def wrong(page: Path) -> Iterator[str]:
        calls = [span for span in spans(page) if span.partition(" ")[0] in COMMANDS and " --" in span]
        return (f"{call}: {fault}" for call in calls for fault in faults(call))

    assert_none(faults_of(wrong))


@cache
def the_command(name: str) -> Any:
    module = _OF_THE_CHECKOUT.get(name)
    return get_command(importlib.import_module(module).app) if module else command_of(name)


def options(command: Any) -> set[str]:
    found = {"--help"}
    for parameter in command.params:
        found.update(parameter.opts, parameter.secondary_opts)
    return found


def test_every_option_that_is_named_alone_exists() -> None:
    known = {"--help", "--version", "--install-completion"}
    for name in COMMANDS:
        command = the_command(name)
        known |= options(command)
        for each in getattr(command, "commands", {}).values():
            known |= options(each)

    def unknown(page: Path) -> set[str]:
        return {span.partition(" ")[0].partition("=")[0] for span in spans(page) if span.startswith("--")} - known

    assert_none(faults_of(unknown, OURS))


@cache
def routes() -> set[str]:
    """Method and path, parameters without their names."""
    described = create_app(Settings()).openapi()["paths"]
    listed = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    return {re.sub(r"\{\w+\}", "{}", route) for route in listed}


def test_every_route_exists() -> None:
    """As in `GET /me` and `POST …/apply`, where `…` stands for any start."""

    def unknown(page: Path) -> Iterator[str]:
        for method, path in re.findall(r"`(GET|POST|PUT|DELETE) ((?:/|…/)[^`\s]*)[^`]*`", prose(page)):
            plain = re.sub(r"\{\w+\}", "{}", path.partition("?")[0]).removeprefix("/api/v1")
            if plain.startswith("…"):
                found = any(route.startswith(f"{method} ") and route.endswith(plain[1:]) for route in routes())
            else:
                found = bool({f"{method} /api/v1{plain}", f"{method} {plain}"} & routes())
            if not found:
                yield f"{method} {path}"

    assert_none(faults_of(unknown))


# Where routes begin, and where those of a later version would.
_VERSIONS = ("/api/v1", "/api/v2")
# Where a path of the file system begins, rather than one of the service.
_FOLDERS = {"data", "tmp", "dev", "opt", "proc", "sys", "var", "lib", "usr", "etc"}


@cache
def paths() -> set[str]:
    """A pattern for the path of each route, pages as well."""
    listed = {str(context.path) for context in iter_route_contexts(create_app(Settings()).routes)}
    return {re.sub(r"\\\{.*?\\\}", "[^/]+", re.escape(path)) for path in listed if path not in ("", "/")}


def test_every_address_exists() -> None:
    """`/readyz`, `/account/tokens`; with a host it is this machine's."""

    def unknown(page: Path) -> Iterator[str]:
        named = [span.partition(" ")[0] for span in spans(page) if span.startswith("/")]
        named += re.findall(r"http://127\.0\.0\.1:8000(/[\w/{}.-]*)", page.read_text(encoding="utf-8"))
        for path in named:
            plain = re.sub(r"\{\w+\}", "x", path.partition("?")[0].partition("#")[0])
            if plain.split("/")[1] in _FOLDERS or plain in ("/", *_VERSIONS):
                continue
            # The end of an address is enough: `/deliveries`, and paths below /api/v1.
            if not any(re.search(f"{pattern}$", f"/api/v1{plain}") or pattern.endswith(plain) for pattern in paths()):
                yield path

    assert_none(faults_of(unknown))


def test_every_page_is_in_a_file_of_pages() -> None:
    """As CONTRIBUTING.md says. What REST describes is not a page, and neither is what monitors and clients read."""
    not_pages = {"/healthz", "/readyz", "/metrics", "/openapi.json"}
    served = [
        (str(context.path), context.endpoint.__module__)
        for context in iter_route_contexts(create_app(Settings()).routes)
        if "GET" in (context.methods or ()) and not str(context.path).startswith("/api/")
    ]
    pages = [module for path, module in served if path not in not_pages]
    assert len(pages) > 20
    assert {module for module in pages if not module.endswith(("_pages", ".pages"))} == set()


def test_every_method_of_a_route_exists() -> None:
    """As in `GET`, `POST /tokens`: the first method has the path of the second."""

    def unknown(page: Path) -> Iterator[str]:
        for listed, path in re.findall(r"((?:`(?:GET|POST|PUT|DELETE)`, )+)`\w+ (/[^`\s]*)`", prose(page)):
            plain = re.sub(r"\{\w+\}", "{}", path)
            for method in re.findall(r"\w+", listed):
                if f"{method} /api/v1{plain}" not in routes():
                    yield f"{method} {path}"

    assert_none(faults_of(unknown))


def test_the_reference_of_rest_names_every_route() -> None:
    text = re.sub(r"\{\w+\}", "{}", (CHECKOUT / "docs" / "rest.md").read_text(encoding="utf-8"))
    paths = {route.partition(" ")[2].removeprefix("/api/v1") for route in routes()}
    assert {path for path in paths if path not in text and f"…/{path.rpartition('/')[2]}`" not in text} == set()


def test_every_setting_exists() -> None:
    settings = {f"MESHGRADE_{name.upper()}" for name in Settings.model_fields}

    def unknown(page: Path) -> set[str]:
        named = set(re.findall(r"\bMESHGRADE_[A-Z_]+[A-Z]\b", page.read_text(encoding="utf-8")))
        return {name for name in named - settings if name not in SOURCES}

    assert_none(faults_of(unknown))


def test_what_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("One.\n\nSee `a/b`, `GET`\nand `POST /c/d`.\n")
    assert faults_of(spans, [page]) == [f"{page}:3: a/b", f"{page}:3: GET", f"{page}:4: POST /c/d"]
    assert faults_of(lambda _: ["a/b --c: no option --c", "GET /c/d"], [page]) == [
        f"{page}:3: a/b --c: no option --c",
        f"{page}:4: GET /c/d",
    ]
    assert list(faults("judge a b --jason")) == ["no option --jason"]
    assert list(faults("juge a b")) == ["no command juge"]
    assert list(faults("problem downgrade")) == ["no command downgrade"]
    assert list(faults("test -- -k wire")) == []
    assert "4-verdict" in anchors(CHECKOUT / "docs" / "design.md")
