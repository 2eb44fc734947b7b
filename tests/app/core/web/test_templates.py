"""Templates are well-formed, and contain nothing that the content security policy would block."""

import re

import pytest

from app.core.web.static_files import FOLDER, static_url
from app.core.web.templating import ENVIRONMENT, TEMPLATES, render_page

NAMES = ENVIRONMENT.list_templates()


@pytest.mark.parametrize("name", NAMES)
def test_it_compiles(name: str) -> None:
    assert ENVIRONMENT.get_template(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_it_holds_no_inline_script_or_style(name: str) -> None:
    text = (TEMPLATES / name).read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


@pytest.mark.parametrize("name", NAMES)
def test_every_static_file_that_it_names_exists(name: str) -> None:
    for file in re.findall(r"static\('([^']+)'\)", (TEMPLATES / name).read_text()):
        assert (FOLDER / file).is_file(), file


@pytest.mark.parametrize("name", NAMES)
def test_it_switches_no_escaping_off(name: str) -> None:
    assert not re.search(r"\|\s*safe|autoescape", (TEMPLATES / name).read_text())


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
