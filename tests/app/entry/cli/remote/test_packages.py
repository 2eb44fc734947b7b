"""`problem push`, `publish` and `pull` of an author, against a real server whose judge compares texts."""

import httpx
import pytest

from app.entry.cli.remote.server import Server
from tests.app.entry.cli.remote.conftest import TOKEN

SOLUTION = '"""Adds one."""\n\n\ndef {slug}(x):\n    return x + 1\n'


@pytest.fixture(scope="session")
def slugs():
    """Each test has a problem of its own on the shared server."""
    return iter([f"pushed_{letter}" for letter in "abcdefgh"])


@pytest.fixture
def package(meshgrade, tmp_path, slugs):
    """A new package, finished so that the server's judge accepts what it must."""
    slug = next(slugs)
    assert meshgrade("problem", "new", slug, "--into", tmp_path).code == 0
    folder = tmp_path / slug
    for path in folder.rglob("*.*"):
        path.write_text(path.read_text().replace("TODO(author)", "Written"))
    for name in ("reference.py", "submissions/accepted/loop.py"):
        (folder / name).write_text(SOLUTION.format(slug=slug))
    (folder / "submissions" / "rejected" / "wrong_shape" / "sum_of_everything.py").unlink()
    return folder


def statement(live, slug):
    return httpx.get(f"{live}/api/v1/problems/{slug}", timeout=60).json().get("statement", "")


def test_push_validates_publish_serves_and_pull_brings_it_back(meshgrade, logged_in, package, tmp_path):
    slug = package.name
    done = meshgrade("problem", "push", package)
    assert (done.code, done.err) == (0, "")
    assert f"Uploaded {slug}, version " in done.out
    assert "Its validation passed: 7 steps." in done.out
    assert f"./meshgrade problem publish {slug}" in done.out
    assert httpx.get(f"{logged_in}/api/v1/problems/{slug}", timeout=60).status_code == 404

    done = meshgrade("problem", "publish", slug)
    assert (done.code, done.err) == (0, "")
    assert f"Published {slug}, version " in done.out
    assert "splits `x` into" in statement(logged_in, slug)

    done = meshgrade("problem", "pull", slug, "--into", tmp_path / "pulled")
    assert (done.code, done.err) == (0, "")
    pulled = tmp_path / "pulled" / slug
    files = {path.relative_to(package): path.read_bytes() for path in package.rglob("*") if path.is_file()}
    assert {path.relative_to(pulled): path.read_bytes() for path in pulled.rglob("*") if path.is_file()} == files
    done = meshgrade("problem", "pull", slug, "--into", tmp_path / "pulled")
    assert (done.code, "already exists" in done.err) == (2, True)


def test_a_version_is_named_by_its_beginning(meshgrade, logged_in, package, tmp_path):
    slug = package.name
    first = meshgrade("problem", "push", package, "--publish").out
    version = first.split("version ")[1][:12]
    (package / "editorial.md").write_text("Another text.\n")
    assert f"Published {slug}" in meshgrade("problem", "push", package, "--publish").out

    done = meshgrade("problem", "pull", slug, "--version", version, "--into", tmp_path / "old")
    assert (done.code, f"version {version}." in done.out) == (0, True)
    assert (tmp_path / "old" / slug / "editorial.md").read_text() != "Another text.\n"
    assert meshgrade("problem", "publish", slug, "--version", version).code == 0
    done = meshgrade("problem", "publish", slug, "--version", "zzzzzz")
    assert (done.code, "no version of" in done.err) == (2, True)
    assert "too short" in meshgrade("problem", "publish", slug, "--version", "a").err


def test_a_validation_that_fails_names_the_files_and_publishes_nothing(meshgrade, logged_in, package):
    slug = package.name
    (package / "submissions" / "accepted" / "loop.py").write_text('"""Adds two."""\n\nx = 2\n')
    done = meshgrade("problem", "push", package, "--publish")
    assert done.code == 1
    assert "submissions/accepted/loop.py: It must be accepted, but it is rejected (wrong_value)." in done.out
    assert "Its validation failed: 1 of 7 steps did not pass." in done.out
    done = meshgrade("problem", "publish", slug)
    assert (done.code, "Fix the package" in done.err) == (2, True)
    assert meshgrade("problem", "publish", slug, "--force").code == 0


def test_an_unfinished_package_is_not_sent(meshgrade, logged_in, package):
    (package / "hints.md").write_text("## Hint 1\n\nTODO(author): a question\n")
    done = meshgrade("problem", "push", package)
    assert (done.code, "TODO(author) is left in hints.md:3" in done.err) == (2, True)


def test_a_package_that_cannot_be_read_is_not_sent(meshgrade, logged_in, package):
    (package / "hints.md").unlink()
    done = meshgrade("problem", "push", package)
    assert (done.code, "hints.md is missing or empty" in done.err) == (2, True)


def test_only_uploading(meshgrade, logged_in, package):
    done = meshgrade("problem", "push", package, "--no-validate")
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert meshgrade("problem", "push", package, "--no-validate", "--publish").code == 2
    # Nothing was published yet, so there is no such version to pull.
    done = meshgrade("problem", "pull", package.name)
    assert (done.code, f"The server has no version of {package.name}." in done.err) == (2, True)


def test_without_a_login_nothing_is_sent(meshgrade, live, package):
    done = meshgrade("problem", "push", package, "--server", live)
    assert (done.code, "You are not logged in" in done.err) == (2, True)


def test_what_is_no_package_is_not_written(meshgrade, live, monkeypatch, tmp_path, fsdp_step):
    from app.authoring.package_zip import zip_of

    monkeypatch.setenv("MESHGRADE_TOKEN", TOKEN)
    for sent in (b"PK", zip_of({"../evil.py": "x"}), zip_of(fsdp_step.files | {"hints.md": "## Hint 1\nOther.\n"})):
        monkeypatch.setattr(Server, "download", lambda self, slug, version, sent=sent: sent)
        done = meshgrade("problem", "pull", "fsdp_step", "--server", live, "--into", tmp_path / "pulled")
        assert done.code != 0
        assert "Nothing was written." in done.err
    assert not (tmp_path / "pulled").exists()
