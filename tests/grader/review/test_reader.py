import shutil
from pathlib import Path

import pytest

from grader.package.fault import PackageInvalid
from grader.review.reader import read_package

ADD_ONE = Path(__file__).parents[1] / "packages" / "add_one"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ADD_ONE, tmp_path / "add_one"))


def faults_of(folder: Path) -> list[str]:
    with pytest.raises(PackageInvalid) as caught:
        read_package(folder)
    return [str(each) for each in caught.value.faults]


def faults(folder: Path) -> str:
    return "\n".join(faults_of(folder))


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "problem.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_good_package_is_read_whole(folder):
    package = read_package(folder)
    assert package.slug == "add_one"
    assert package.hints == ("Add.", "Add one.")
    assert [known.misunderstanding for known in package.rejected] == [
        "You added two instead of one.",
        "You doubled x instead of adding one.",
    ]
    assert {known.reason for known in package.rejected} == {"wrong_value"}


def test_the_version_changes_with_any_file_and_only_then(folder):
    version = read_package(folder).version
    assert version == read_package(ADD_ONE).version
    (folder / "hints.md").write_text("## Hint 1\nAdd two.\n")
    assert read_package(folder).version != version


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Add one"', 'titel = "Add one"', "unknown key 'titel' (did you mean 'title'?)"),
        ("time_s = 3.0", "time = 3.0", "unknown key 'limits.time' (did you mean 'time_s'?)"),
        ("time_s = 3.0", 'time_s = "3"', "limits.time_s"),
        ("time_s = 3.0", "time_s = 4.5", "limits.wall_s is 8; it must be at least twice limits.time_s"),
        ('id = "values"', 'id = "value"', "there is no check 'value' in call mode (did you mean 'values'?)"),
        ("points = 100", "points = 90", "add up to 90, not 100"),
        ('slug = "add_one"', 'slug = "add_two"', "but the folder is called 'add_one'"),
        (
            'mode = "call"',
            'mode = "cal"',
            "mode: there is no mode 'cal' (did you mean 'call'?). Write one of 'call', 'program'",
        ),
        ('mode = "call"', "mode = 3", "mode: there is no mode '3'. Write one of 'call', 'program'"),
        ('mode = "call"', "", "mode: it is missing. Write one of 'call', 'program'"),
        ('mode = "call"', 'mode = "program"', "mode program needs a table [program]"),
        ("[limits]", "[program]\nmeshes = []\n[limits]", "[program] belongs to mode program"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ("schema_version = 1", "schema_version = ", "is not TOML"),
        ("[limits]", "[tolerance.float23]\nrtol = 0.1\natol = 0.1\n[limits]", "(did you mean 'float32'?)"),
        pytest.param(
            "[limits]",
            '[[output_tolerances]]\noutputs = ["*"]\ndtype = "float23"\nrtol = 0.1\natol = 0.1\n[limits]',
            "unknown dtype in output_tolerances: 'float23' (did you mean 'float32'?)",
            id="output_tolerances dtype",
        ),
        pytest.param(
            "[limits]",
            '[[output_tolerances]]\noutput = ["*"]\nrtol = 0.1\natol = 0.1\n[limits]',
            "unknown key 'output_tolerances.0.output' (did you mean 'outputs'?)",
            id="output_tolerances key",
        ),
    ],
)
def test_a_wrong_manifest_is_explained(folder, old, new, said):
    edit(folder, old, new)
    assert said in faults(folder)


@pytest.mark.parametrize("mode", ['mode = "cal"', ""])
def test_a_mode_that_does_not_exist_hides_no_other_fault(folder, mode):
    edit(folder, 'mode = "call"', mode)
    edit(folder, "time_s = 3.0", "time = 3.0")
    assert [fault.split(":")[1] for fault in faults_of(folder)] == [
        " mode",
        " unknown key 'limits.time' (did you mean 'time_s'?)",
    ]


def test_a_key_of_the_program_is_named_with_its_table(folder):
    edit(folder, 'mode = "call"', 'mode = "program"')
    edit(folder, "[limits]", '[program]\nmeshs = []\ninputs = { x = "x" }\n[limits]')
    assert faults_of(folder) == [
        "problem.toml: program.meshes: Field required",
        "problem.toml: program.inputs.x: Input should be a valid list",
        "problem.toml: unknown key 'program.meshs' (did you mean 'meshes'?)",
    ]


def test_a_problem_about_one_device_has_one_mesh(folder):
    edit(folder, 'mode = "call"', 'mode = "program"')
    edit(folder, "[limits]", "[program]\nmeshes = [{ device = 1 }]\n[limits]")
    assert read_package(folder).manifest.program.meshes == [{"device": 1}]


@pytest.mark.parametrize(
    "meshes",
    [
        "[{ data = 2 }]",
        "[{ data = 2 }, { data = 1 }]",
        "[{ device = 1 }, { device = 1 }]",
        "[{ data = 8, model = 1 }, { data = 2, model = 4 }]",
        "[{ data = 8 }, { data = 4 }, { data = 8 }]",
    ],
)
def test_meshes_of_one_size_or_given_twice_or_of_one_device_are_refused(folder, meshes: str):
    edit(folder, 'mode = "call"', 'mode = "program"')
    edit(folder, "devices = 2", "devices = 8")
    edit(folder, "[limits]", f"[program]\nmeshes = {meshes}\n[limits]")
    assert "give two meshes or more" in faults(folder)


def test_two_of_three_meshes_may_have_the_same_size(folder):
    edit(folder, 'mode = "call"', 'mode = "program"')
    edit(folder, "devices = 2", "devices = 8")
    edit(folder, "[limits]", "[program]\nmeshes = [{ a = 4, b = 2 }, { a = 2, b = 4 }, { a = 2, b = 2 }]\n[limits]")
    assert len(read_package(folder).manifest.program.meshes) == 3


def test_every_fault_is_listed_at_once(folder):
    (folder / "reference.py").unlink()
    (folder / "editorial.md").write_text(" \n")
    (folder / "refrence.py").write_text("")
    edit(folder, "points = 100", "points = 1")
    told = faults(folder)
    for said in (
        "reference.py is missing",
        "editorial.md is missing or empty",
        "did you mean 'reference.py'",
        "not 100",
    ):
        assert said in told


def test_a_rejected_submission_needs_a_known_reason_and_a_docstring(folder):
    wrong = folder / "submissions" / "rejected" / "wrong_valeu"
    wrong.mkdir()
    (wrong / "x.py").write_text("x = 1\n")
    told = faults(folder)
    assert "'wrong_valeu' is not a reason (did you mean 'wrong_value'?)" in told
    assert "must be a docstring" in told


def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "reference.py").unlink()
    (folder / "reference.py").symlink_to("/etc/passwd")
    assert "reference.py is not a plain file" in faults(folder)


def test_text_that_is_not_utf8_is_named(folder):
    (folder / "statement.md").write_bytes(b"caf\xe9")
    assert "statement.md is not UTF-8 (byte 3)" in faults(folder)


def test_a_folder_without_manifest_is_no_package(tmp_path):
    assert "does not contain a problem.toml" in faults(tmp_path)


def test_a_byte_order_mark_belongs_to_no_text(folder):
    """As some editors write it, before the manifest, the cases or a submission."""
    version = read_package(folder).version
    for path in folder.rglob("*.*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_package(folder).version == version
