"""The digest of the grader changes with each of its files and packages, and with nothing else."""

import importlib.metadata
import re

import pytest

from grader.core.code_digest import PACKAGES, digest_of, grader_code


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "checks").mkdir()
    (tmp_path / "judge.py").write_text("a = 1\n")
    (tmp_path / "checks" / "values.py").write_text("b = 2\n")
    return tmp_path


def test_it_names_the_version_of_jax():
    assert re.fullmatch(rf"[0-9a-f]{{16}} jax {re.escape(importlib.metadata.version('jax'))}", grader_code())
    assert len(grader_code()) <= 64


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "checks" / "values.py").write_text("b = 3\n"),
        lambda folder: (folder / "checks" / "new.py").touch(),
        lambda folder: (folder / "judge.py").rename(folder / "judges.py"),
        lambda folder: (folder / "judge.py").unlink(),
    ],
)
def test_a_change_of_a_file_changes_it(sources, change):
    before = digest_of(sources)
    change(sources)
    assert digest_of(sources) != before


def test_what_python_compiled_does_not(sources):
    before = digest_of(sources)
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "judge.cpython-311.pyc").write_bytes(b"compiled")
    assert digest_of(sources) == before


@pytest.mark.parametrize("package", PACKAGES)
def test_another_version_of_a_package_changes_it(sources, monkeypatch, package):
    before, version = digest_of(sources), importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "9.9" if name == package else version(name))
    assert digest_of(sources) != before
