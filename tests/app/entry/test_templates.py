"""Templates are well-formed, and contain nothing that the content security policy would block."""

import re

import app.entry.routes  # noqa: F401 (its modules add the filters that templates use)
from app.core.web.static_files import FOLDER, static_url
from app.core.web.templating import ENVIRONMENT, TEMPLATES, render_page
from tests.faults import assert_none, for_each

NAMES = ENVIRONMENT.list_templates()


@for_each("name", NAMES)
def test_every_template_compiles(name: str) -> None:
    assert ENVIRONMENT.get_template(name).name == name


def _matches(pattern: str) -> list[str]:
    """Every match in a template, as `file:line: text`."""
    texts = {name: (TEMPLATES / name).read_text() for name in NAMES}
    return [
        f"{name}:{text.count(chr(10), 0, found.end()) + 1}: {found[0].strip()}"
        for name, text in texts.items()
        for found in re.finditer(pattern, text)
    ]


def test_no_template_holds_an_inline_script_or_style() -> None:
    assert_none(_matches(r"<style|\sstyle=|\son[a-z]+=|javascript:"))
    tags = [(name, tag) for name in NAMES for tag in re.findall(r"<script[^>]*>", (TEMPLATES / name).read_text())]
    assert_none(f"{name}: {tag} has no src" for name, tag in tags if "src=" not in tag)


def test_every_static_file_that_a_template_names_exists() -> None:
    named = [
        (name, file) for name in NAMES for file in re.findall(r"static\('([^']+)'\)", (TEMPLATES / name).read_text())
    ]
    assert named
    assert_none(f"{name}: {file}" for name, file in named if not (FOLDER / file).is_file())


def test_no_template_switches_escaping_off() -> None:
    assert_none(_matches(r"\|\s*safe|autoescape"))
    assert _matches(r"\{%\s*extends")


def test_scripts_import_files_that_exist() -> None:
    for script in FOLDER.glob("*.js"):
        for name in re.findall(r'^import .* from "\./([^"]+)";$', script.read_text(), re.MULTILINE):
            assert (FOLDER / name).is_file(), (script.name, name)


def test_an_error_page_escapes_what_it_is_told() -> None:
    page = render_page("error.html", status_code=404, status=404, title="<b>", detail="<script>", slug="x")
    assert page.status_code == 404
    assert b"&lt;script&gt;" in page.body
    assert b"<script>" not in page.body


def test_static_addresses_hold_the_version() -> None:
    assert re.fullmatch(r"/static/[0-9a-f]{16}/base\.css", static_url("base.css"))
