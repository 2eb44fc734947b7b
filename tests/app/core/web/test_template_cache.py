"""Compiled templates are stored for the next start, and never used for anything that compiles differently."""

import sys

import pytest
from jinja2 import Environment, FileSystemLoader, TemplateAssertionError

from app.core.web.templating import template_cache


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "pycache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "pycache"


@pytest.fixture
def build(tmp_path):
    """Build an environment as at the start of a process, with these filters."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "page.html").write_text("{{ 3 | twice }}")

    def start(**filters):
        environment = Environment(loader=FileSystemLoader(tmp_path / "pages"), autoescape=True)
        environment.filters |= filters
        environment.bytecode_cache = template_cache(environment)
        return environment

    return start


def twice(number):
    return 2 * number


def test_the_next_start_compiles_nothing(prefix, build, monkeypatch):
    assert build(twice=twice).get_template("page.html").render() == "6"
    assert len([each for each in prefix.rglob("*") if each.is_file()]) == 1
    monkeypatch.setattr(Environment, "compile", lambda *_: pytest.fail("compiled again"))
    assert build(twice=twice).get_template("page.html").render() == "6"


def test_a_template_that_changed_is_compiled_again(prefix, build, tmp_path):
    assert build(twice=twice).get_template("page.html").render() == "6"
    (tmp_path / "pages" / "page.html").write_text("{{ 4 | twice }}")
    assert build(twice=twice).get_template("page.html").render() == "8"


@pytest.mark.usefixtures("prefix")
def test_a_filter_that_is_gone_is_noticed_when_the_template_is_compiled(build):
    build(twice=twice).get_template("page.html")
    with pytest.raises(TemplateAssertionError, match="twice"):
        build().get_template("page.html")


def test_a_folder_that_cannot_be_made_stops_nothing(prefix, build):
    prefix.write_text("a file is in the way")
    assert build(twice=twice).get_template("page.html").render() == "6"


def test_without_a_folder_for_compiled_files_there_is_no_cache(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    assert template_cache(Environment()) is None
    monkeypatch.setattr(sys, "pycache_prefix", "/anywhere")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert template_cache(Environment()) is None
