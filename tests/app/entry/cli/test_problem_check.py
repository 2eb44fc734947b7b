"""`meshgrade problem check` as an author runs it. The judge is a stand-in, except in test_problem_judged.py."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.authoring.package_check import JudgeReport
from app.core.start_errors import StartRefused
from app.entry.cli import problem_check
from app.entry.cli.__main__ import app
from app.entry.cli.private_folder import PrivateFolder
from grader.core.errors import WallMissing
from grader.mistakes.known_mistakes import current
from grader.package.budget import budget_from
from grader.package.fault import PackageFault
from grader.package.pictures import drawn_from
from grader.review.reader import measured, read_package
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.pictures import Outline, Picture, Pictures

CHECKOUT = Path(__file__).resolve().parents[4]
STARTER = PackageFault("starter", "starter.py", None, "It must be rejected, but it is accepted.")
UNTESTED = PackageFault("untested-check", "problem.toml", None, "no rejected submission fails the check 'values'")


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "problems" / "add_one"
    shutil.copytree(CHECKOUT / "tests" / "grader" / "packages" / "add_one", folder)
    (folder / "statement.md").write_text("## Problem\n\nWrite `add_one(x)`: it returns `x + 1`.\n")
    return folder


@pytest.fixture
def finds(tmp_path, monkeypatch):
    """Set what the judge finds; it notes which packages it was asked about."""
    private = PrivateFolder(tmp_path / "references", tmp_path / "checks", b"secret")
    monkeypatch.setattr("app.entry.cli.private_folder.open_private_folder", lambda: private)

    def set_faults(*faults, complete=True, measured=None, fingerprints=None, budget=None, pictures=None):
        names = []

        def judge(left, request):
            for each in left:
                names.append(each.path.name)
                survivor = PackageFault("surviving-mutant", "reference.py", 2, "`x + 1` became `x - 1`.")
                yield (
                    each,
                    JudgeReport(faults, 5, complete, measured or {}, fingerprints or {}, budget, pictures),
                    JudgeReport((survivor,), 7, complete) if request.mutants else None,
                )

        monkeypatch.setattr(problem_check, "_judge", judge)
        return names

    return set_faults


def check(*arguments):
    return CliRunner().invoke(app, ["problem", "check", *map(str, arguments)])


def test_a_package_without_faults(package, finds):
    finds()
    done = check(package)
    assert done.exit_code == 0, done.output
    assert "add_one (5 submissions judged)" in done.stdout
    assert "1 package checked: no errors." in done.stdout


def test_errors_are_shown_with_their_place_and_what_to_do(package, finds):
    finds(STARTER)
    (package / "hints.md").write_text("Add one.\n")
    (package / "editorial.md").write_text("It adds.\n\nTODO(author): say why\n")
    done = check(package)
    assert done.exit_code == 1
    assert "  error todo editorial.md:3: say why\n    Write this part, then delete the mark.\n" in done.stdout
    assert "  error starter starter.py: It must be rejected, but it is accepted.\n" in done.stdout
    assert "1 package checked: 3 errors." in done.stdout


def test_warnings_do_not_fail(package, finds):
    finds(UNTESTED)
    done = check(package)
    assert done.exit_code == 0
    assert "warning untested-check" in done.stdout
    assert "1 warning." in done.stdout


def test_a_second_check_asks_no_judge(package, finds):
    asked = finds(UNTESTED)
    check(package)
    done = check(package)
    assert asked == ["add_one"]
    assert "(5 submissions judged, unchanged since then)" in done.stdout
    assert "untested-check" in done.stdout
    check(package, "--fresh")
    assert asked == ["add_one"] * 2


def test_the_fingerprints_of_known_mistakes_are_written(package, finds):
    """Again from what was found earlier, if somebody deleted the file; and not if they still hold."""
    [name, *_] = [each.name for each in read_package(package).rejected if each.reason == "wrong_value"]
    finds(fingerprints={name: Fingerprint(results={"public-1": {"": "float32[] 3"}})})
    file = package / "known.json"
    for _ in range(2):
        done = check(package)
        assert "add_one: wrote known.json" in done.stderr
        assert current(read_package(package))[name].results == {"public-1": {"": "float32[] 3"}}
        file.unlink()
    check(package)
    file.write_text(file.read_text().replace("] 3", "] 3.0000001"))
    written = file.read_text()
    done = check(package)
    assert (done.exit_code, "wrote" in done.stderr, file.read_text()) == (0, False, written)
    file.write_text("{}")
    assert "known.json is not what `meshgrade problem check` writes" in check(package).stdout


def test_the_pictures_of_a_page_are_written(package, finds):
    """Again from what was found earlier, if somebody deleted the file; and not if they are of the same files."""
    outline = Outline(mesh={}, inputs=[], collectives=[], outputs=[])
    drawn = Pictures.of_this_jax({"": Picture(of=drawn_from(read_package(package)), solution=outline)})
    finds(pictures=drawn)
    file = package / "pictures.json"
    for _ in range(2):
        assert "add_one: wrote pictures.json" in check(package).stderr
        assert read_package(package).pictures == drawn
        assert "wrote" not in check(package).stderr
        file.unlink()


def test_what_accepted_submissions_send_is_written(package, finds):
    shipped = CHECKOUT / "problems" / "psum_by_hand"
    shutil.rmtree(package)
    shutil.copytree(shipped, package)
    manifest = package / "problem.toml"
    manifest.write_text(manifest.read_text().replace('slug = "psum_by_hand"', f'slug = "{package.name}"'))
    file = package / "budget.json"
    file.unlink()
    measured_again = budget_from(measured(read_package(package)), {})
    asked = finds(budget=measured_again)
    done = check(package)
    assert f"{package.name}: wrote budget.json" in done.stderr
    assert read_package(package).budget == measured_again
    assert "budget.json" not in done.stdout
    done = check(package)
    assert (asked, "wrote budget.json" in done.stderr) == ([package.name], False)
    file.unlink()
    assert "warning budget budget.json" in check(package, "--no-judge").stdout
    file.write_text("{}")
    assert "budget.json is not what `meshgrade problem check` writes" in check(package).stdout


def test_a_changed_package_is_judged_again(package, finds):
    asked = finds()
    check(package)
    (package / "hints.md").write_text("## Hint 1\nAdd.\n\n## Hint 2\nAdd 1.\n")
    check(package)
    assert asked == ["add_one"] * 2


def test_another_version_of_the_grader_judges_again(package, finds, monkeypatch):
    asked = finds()
    check(package)
    monkeypatch.setattr(problem_check, "environment", lambda: "another JAX")
    check(package)
    assert asked == ["add_one"] * 2


def test_a_grader_that_failed_is_asked_again(package, finds):
    asked = finds(PackageFault("grader", "starter.py", None, "The grader failed on it."), complete=False)
    assert check(package).exit_code == 1
    check(package)
    assert asked == ["add_one"] * 2


def test_mutants_that_survive_are_warnings(package, finds):
    asked = finds()
    check(package)
    for _ in range(2):
        done = check(package, "--mutants")
        assert done.exit_code == 0
        assert "1 of 7 mutants survived" in done.stdout
        assert "warning surviving-mutant reference.py:2: `x + 1` became `x - 1`." in done.stdout
    # The first check judged no mutants, and the third found those of the second.
    assert asked == ["add_one"] * 2
    assert "mutants" not in check(package).stdout
    check(package, "--mutants", "--at-most", "3")
    assert asked == ["add_one"] * 3
    shown = json.loads(check(package, "--mutants", "--at-most", "3", "--json").stdout)
    assert shown["packages"][0]["mutants"] == {"judged": 7, "survived": 1}


@pytest.mark.parametrize("option", ["--mutants", "--thorough"])
def test_some_options_need_a_judge(package, option):
    done = check(package, option, "--no-judge")
    assert isinstance(done.exception, StartRefused)
    assert done.exception.remedy == f"Remove one of --no-judge and {option}."


def test_a_thorough_check_judges_the_reference_20_times(package, finds, monkeypatch):
    asked_for = []
    finds()
    usual = problem_check._judge
    monkeypatch.setattr(
        problem_check, "_judge", lambda left, request: asked_for.append(request.runs) or usual(left, request)
    )
    for arguments in ((), ("--thorough",), ("--thorough",), ()):
        assert check(package, *arguments).exit_code == 0
    # Each kind of check keeps what it found.
    assert asked_for == [3, 20]


def test_what_was_measured_is_data(package, finds):
    finds(measured={"proposed_limits": {"time_s": 10.0}})
    for _ in range(2):
        (only,) = json.loads(check(package, "--json").stdout)["packages"]
        assert only["measured"] == {"proposed_limits": {"time_s": 10.0}}


def test_no_judge_only_reads(package, finds):
    asked = finds(STARTER)
    done = check(package, "--no-judge")
    assert done.exit_code == 0
    assert "(not judged)" in done.stdout
    assert asked == []


def test_the_findings_as_data(package, finds):
    finds(STARTER, UNTESTED)
    done = check(package, "--json")
    shown = json.loads(done.stdout)
    assert (done.exit_code, shown["errors"], shown["warnings"]) == (1, 1, 1)
    (only,) = shown["packages"]
    assert (only["slug"], only["judged"], only["unchanged"]) == ("add_one", True, False)
    assert only["findings"][0] == {
        "rule": "starter",
        "level": "error",
        "file": "starter.py",
        "line": None,
        "message": "It must be rejected, but it is accepted.",
        "fix": "Remove the solution from the starter.",
    }


def test_a_package_that_cannot_be_read_is_not_judged(package, finds):
    asked = finds()
    (package / "problem.toml").write_text("slug = [")
    done = check(package)
    assert (done.exit_code, asked) == (1, [])
    assert "error toml problem.toml" in done.stdout


def test_a_folder_of_packages(package, finds):
    finds()
    shutil.copytree(package, package.parent / "add_two")
    done = check(package.parent)
    assert "2 packages checked: 1 error." in done.stdout
    assert "slug is 'add_one', but the folder is called 'add_two'" in done.stdout


def test_a_slug_of_the_problems_folder(package, finds, monkeypatch):
    monkeypatch.setenv("MESHGRADE_PROBLEMS", str(package.parent))
    finds()
    assert check("add_one", "--no-judge").exit_code == 0


@pytest.mark.parametrize(
    ("path", "words"),
    [("no_such_problem", "neither a folder nor the slug of a problem"), ("/", "contains no problem.toml")],
)
def test_a_path_without_a_package(path, words):
    done = check(path)
    assert isinstance(done.exception, StartRefused)
    assert words in str(done.exception)


def test_a_missing_wall_judges_nothing(package, finds, monkeypatch):
    finds()

    def judge(left, request):
        raise WallMissing("bubblewrap", "it is not installed", "apt-get install bubblewrap")
        yield

    monkeypatch.setattr(problem_check, "_judge", judge)
    done = check(package)
    assert done.exit_code == 3
    assert "refusing to run a package" in done.stderr


def test_the_environment_names_what_a_verdict_depends_on():
    for name in ("meshgrade", "jax", "jaxlib", "numpy"):
        assert f"{name} " in problem_check.environment()
