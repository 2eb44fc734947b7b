"""`meshgrade problem new`: packages that are complete except for their marks, and refusals that say what to do."""

import os
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.core.start_errors import StartRefused
from app.entry.cli.__main__ import app
from grader.package.ceiling import Ceiling
from grader.review.reader import read_package
from grader.review.rules import review_package

CHECKOUT = Path(__file__).resolve().parents[4]


def new(*arguments):
    return CliRunner().invoke(app, ["problem", "new", *map(str, arguments)])


def refused(*arguments):
    done = new(*arguments)
    assert isinstance(done.exception, StartRefused), done.output
    return f"{done.exception}\n{done.exception.remedy}"


@pytest.mark.parametrize("mode", ["call", "program", "answer"])
def test_a_new_package_lacks_only_what_is_marked(tmp_path, mode):
    done = new("row_sums", "--mode", mode, "--into", tmp_path)
    assert done.exit_code == 0, done.output
    found = review_package(tmp_path / "row_sums", Ceiling(), {})
    assert found.package is not None
    assert (found.package.slug, found.package.manifest.mode) == ("row_sums", mode)
    # What accepted submissions send is measured when the package is checked.
    faults = [each for each in found.faults if (each.rule, mode) != ("budget", "program")]
    assert {each.rule for each in faults} == {"todo"}
    assert all(each.line for each in faults)
    assert f"{len(faults)} parts to fill in" in done.output
    code = {"questions.py", "mistakes.py"} if mode == "answer" else {"reference.py", "cases.py"}
    # Each file has at least one mark, or one beside it has: an author looks at each of them.
    assert {each.file for each in faults} >= {"problem.toml", "statement.md", *code}


def test_two_new_packages_have_different_uuids(tmp_path):
    for slug in ("one", "two"):
        assert new(slug, "--into", tmp_path).exit_code == 0
    first, second = (read_package(tmp_path / slug).manifest.uuid for slug in ("one", "two"))
    assert first != second


def test_an_editor_finds_the_schema(tmp_path):
    new("row_sums", "--into", tmp_path)
    line = (tmp_path / "row_sums" / "problem.toml").read_text().splitlines()[0]
    schema = os.path.normpath(tmp_path / "row_sums" / line.removeprefix("#:schema "))
    assert Path(schema) == CHECKOUT / "docs" / "problem.schema.json"
    assert Path(schema).is_file()


def test_a_copy_has_everything_but_the_slug_and_the_uuid(tmp_path):
    done = new("my_gather", "--like", "all_gather_tiled", "--into", tmp_path)
    assert done.exit_code == 0, done.output
    copied, original = read_package(tmp_path / "my_gather"), read_package(CHECKOUT / "problems" / "all_gather_tiled")
    assert {name: text for name, text in copied.files.items() if name != "problem.toml"} == {
        name: text for name, text in original.files.items() if name != "problem.toml"
    }
    raw, before = (tomllib.loads(each.files["problem.toml"]) for each in (copied, original))
    assert {key for key in before if raw[key] != before[key]} == {"slug", "uuid"}
    assert [each.rule for each in review_package(tmp_path / "my_gather").faults] == ["todo"]


def test_a_copy_of_a_folder(tmp_path):
    new("one", "--into", tmp_path)
    assert new("two", "--like", tmp_path / "one", "--track", "hybrid", "--into", tmp_path).exit_code == 0
    assert (
        read_package(tmp_path / "two").manifest.track
        == read_package(CHECKOUT / "problems" / "hsdp_step").manifest.track
    )


def test_a_track_is_named_by_id_or_title(tmp_path):
    for slug, track in (("one", "fsdp"), ("two", "Fully sharded data parallel")):
        done = new(slug, "--track", track, "--into", tmp_path)
        assert f'add "{slug}" to problems in {CHECKOUT / "problems" / "tracks.toml"}' in " ".join(done.output.split())
        assert read_package(tmp_path / slug).manifest.track == "Fully sharded data parallel"


def test_without_tracks_any_track_will_do(tmp_path, monkeypatch):
    monkeypatch.setenv("MESHGRADE_PROBLEMS", str(tmp_path))
    assert new("one", "--track", 'Rows "and" columns').exit_code == 0
    assert read_package(tmp_path / "one").manifest.track == 'Rows "and" columns'


@pytest.mark.parametrize("slug", ["Row-Sums", "1st", "r", "../x", "x" * 65])
def test_a_slug_that_cannot_be_one(tmp_path, slug):
    assert "lower-case letters, digits and _" in refused(slug, "--into", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(tmp_path):
    (tmp_path / "row_sums").mkdir()
    assert f"{tmp_path / 'row_sums'} already exists. Nothing was written." in refused("row_sums", "--into", tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--track", "fsd"], "has no track 'fsd' (did you mean 'fsdp'?)"),
        (["--mode", "cal"], "there is no mode 'cal'.\nWrite --mode call, --mode program or --mode answer."),
        (["--like", "all_gather_tiled", "--mode", "call"], "a copy cannot be in call mode"),
    ],
)
def test_options_that_do_not_fit(tmp_path, options, words):
    assert words in refused("row_sums", "--into", tmp_path, *options)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_problem_cannot_be_copied(tmp_path):
    done = new("row_sums", "--like", "all_gather_tield", "--into", tmp_path)
    assert "all_gather_tiled" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("row_sums", "--into", tmp_path / "file")
