"""Templates are well-formed, and contain nothing that the content security policy would block."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from jinja2 import nodes

import app.entry.routes  # noqa: F401 (its modules add the filters that templates use)
from app.core.web.static_files import FOLDERS, static_file, static_url
from app.core.web.templating import ENVIRONMENT, render_page
from tests.faults import assert_none, for_each

NAMES = ENVIRONMENT.list_templates()
CHECKOUT = Path(__file__).resolve().parents[3]
SOURCES = {name: ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0] for name in NAMES}
_NAMED = re.compile(r"""["']([\w/]+\.html)["']""")
_FILE = re.compile(r"""["'](\w+/[\w/]+\.(?:css|js|svg|woff2))["']""")
_SHEET = re.compile(r"""["'](\w+/\w+\.css)["']""")


@for_each("name", NAMES)
def test_every_template_compiles(name: str) -> None:
    assert name.endswith(f"/{ENVIRONMENT.get_template(name).name}")


def _matches(pattern: str) -> list[str]:
    """Every match in a template, as `file:line: text`."""
    return [
        f"{name}:{text.count(chr(10), 0, found.end()) + 1}: {found[0].strip()}"
        for name, text in SOURCES.items()
        for found in re.finditer(pattern, text)
    ]


def test_no_template_imports_a_macro_that_it_does_not_use() -> None:
    for name in NAMES:
        tree = ENVIRONMENT.parse(SOURCES[name])
        used = {each.name for each in tree.find_all(nodes.Name) if each.ctx == "load"}
        imported = [each for found in tree.find_all(nodes.FromImport) for each in found.names]
        assert_none(f"{name}: {each}" for each in imported if each not in used)


def test_no_template_holds_an_inline_script_or_style() -> None:
    assert_none(_matches(r"<style|\sstyle=|\son[a-z]+=|javascript:"))
    tags = [(name, tag) for name in NAMES for tag in re.findall(r"<script[^>]*>", SOURCES[name])]
    assert_none(f"{name}: {tag} has no src" for name, tag in tags if "src=" not in tag)


def test_every_static_file_that_a_template_names_exists() -> None:
    named = [(name, file) for name in NAMES for file in _FILE.findall(SOURCES[name])]
    assert named
    assert_none(f"{name}: {file}" for name, file in named if not static_file(file).is_file())


def _below() -> dict[str, set[str]]:
    """For each room of the service, itself and the rooms that it may import: those of the layers below its own."""
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == ["app"]]
    floors = [layer.split(" | ") for layer in layers]
    return {
        room: {room, *(each for lower in floors[floor + 1 :] for each in lower)}
        for floor, rooms in enumerate(floors)
        for room in rooms
    }


def _uses() -> Iterator[tuple[str, str, str]]:
    """A file of a room, the room, and the name of a template in it."""
    for name, source in SOURCES.items():
        yield from ((name, name.partition("/")[0], used) for used in _NAMED.findall(source))
    for path in (CHECKOUT / "app").rglob("*.py"):
        file = path.relative_to(CHECKOUT / "app")
        yield from ((file.as_posix(), file.parts[0], used) for used in _NAMED.findall(path.read_text()))


def test_a_template_that_a_room_uses_is_its_own_or_that_of_a_room_below() -> None:
    below, uses = _below(), list(_uses())
    assert {used for _, _, used in uses} == set(NAMES), "templates that nothing uses, or that do not exist"
    assert_none(f"{file}: {used}" for file, room, used in uses if used.partition("/")[0] not in below[room])


def test_a_style_that_a_template_uses_is_of_its_own_room_or_of_a_room_below() -> None:
    below = _below()
    uses = [(name, file) for name, text in SOURCES.items() for file in _SHEET.findall(text)]
    sheets = {f"{room}/{sheet.name}" for room, folder in FOLDERS.items() for sheet in folder.glob("*.css")}
    assert {file for _, file in uses} == sheets, "style sheets that no page uses, or that do not exist"
    assert_none(f"{name}: {file}" for name, file in uses if file.partition("/")[0] not in below[name.partition("/")[0]])


def test_a_page_links_the_sheets_and_scripts_that_it_sets() -> None:
    page = '{% extends "core/base.html" %}{% set sheets = ["core/forms.css"] %}{% set scripts = ["core/copy.js"] %}'
    html = ENVIRONMENT.from_string(page).render()
    assert f'<link rel="stylesheet" href="{static_url("core/forms.css")}">' in html
    assert f'<script type="module" src="{static_url("core/copy.js")}"></script>' in html


def test_no_template_switches_escaping_off() -> None:
    assert_none(_matches(r"\|\s*safe|autoescape"))
    assert _matches(r"\{%\s*extends")


def test_scripts_import_files_that_exist() -> None:
    for script in FOLDERS["core"].glob("*.js"):
        for name in re.findall(r'^import .* from "\./([^"]+)";$', script.read_text(), re.MULTILINE):
            assert (FOLDERS["core"] / name).is_file(), (script.name, name)


def test_an_error_page_escapes_what_it_is_told() -> None:
    texts = {"title": "<b>", "detail": "<script>", "slug": "x", "sought": ""}
    page = render_page("core/error.html", status_code=404, status=404, **texts)
    assert page.status_code == 404
    assert b"&lt;script&gt;" in page.body
    assert b"<script>" not in page.body


def test_static_addresses_hold_the_version() -> None:
    assert re.fullmatch(r"/static/[0-9a-f]{16}/core/base\.css", static_url("core/base.css"))
