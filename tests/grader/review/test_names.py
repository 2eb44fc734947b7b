# ruff: noqa: E501  (rows of a table are easier to read whole)
"""A package that names something that does not exist is refused, with a suggestion."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grader.core.errors import GraderFault
from grader.core.wire import Frame
from grader.judging.judge import Judge
from grader.modes.program.verify import Examined
from grader.package.fault import PackageInvalid
from grader.package.package import Package
from grader.review.names import shared_uuids, unknown_prerequisites, unmatched_leaves, wrong_cases
from grader.review.reader import package_of, read_package
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.shipped_submissions import PROBLEMS

PACKAGES = Path(__file__).parents[1] / "packages"
RULE = 'axes = ["x"]\nof = "w"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKAGES / "move_mean", tmp_path / "move_mean"))


def edit(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))


def faults(folder: Path) -> list[str]:
    with pytest.raises(PackageInvalid) as caught:
        read_package(folder)
    return [str(each) for each in caught.value.faults]


ON_CHIP = """
[checks.on_chip]
topology = "h100:8"

[[checks.on_chip.rules]]
kinds = ["all-reduce"]
axes = ["x"]
of = "w"
at_most = 1.0
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "h100:8",
            "h100:2x8",
            "on_chip.topology: h100:2x8 has 16 chips, and no mesh that it is checked on has as many",
        ),
        ('["x"]', '["xs"]', "on_chip.rules.0.axes: there is no mesh axis 'xs' (did you mean 'x'?)"),
        ('"w"', '"parms"', "on_chip.rules.0.of: there is no group 'parms' (did you mean 'params'?)"),
        ('"w"', '"reference"', "on_chip.rules.0.of: the reference is not compiled for chips. Name a group of leaves"),
    ],
)
def test_names_in_rules_about_chips_are_checked(folder: Path, old: str, new: str, said: str) -> None:
    after = 'means = "The mean needs one reduction."\n'
    edit(folder, "problem.toml", after, after + ON_CHIP)
    assert read_package(folder).manifest
    edit(folder, "problem.toml", ON_CHIP, ON_CHIP.replace(old, new))
    assert any(said in each for each in faults(folder)), faults(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('entry = "step"', 'entry = "stpe"', "entry: reference.py does not define 'stpe' (did you mean 'step'?)"),
        ('entry = "step"', 'entry = "stpe"', "entry: starter.py does not define 'stpe' (did you mean 'step'?)"),
        ('init = "init"', 'init = "inti"', "program.init: reference.py does not define 'inti' (did you mean 'init'?)"),
        ("x = 8 }, { x = 4", "data = 8 }, { data = 4", "check 'collectives': rules.0.axes: there is no mesh axis 'x'"),
        ("[{ x = 8 }, { x = 4 }]", "[{ rows = 8 }, { rows = 4 }]", "program.inputs.x: there is no mesh axis 'x'"),
        ('x = ["x"]', 'xs = ["x"]', "program.inputs.xs: `step` in reference.py takes no 'xs' (did you mean 'x'?)"),
        (RULE, RULE.replace('["x"]', '["x", "x"]'), "rules.0.axes: name each axis once, in the order of the mesh: ['x']"),
        (RULE, RULE.replace('"w"', '"parms"'), "rules.0.of: there is no group 'parms' (did you mean 'params'?)"),
        (RULE, RULE + '\nonly_from = ["parms"]', "rules.0.only_from: there is no group 'parms' (did you mean 'params'?)"),
        (RULE, RULE.replace('"w"', '"referense"'), "there is no group 'referense' (did you mean 'reference'?)"),
        (RULE, RULE + '\nexecutions = { at_most = "xs-1" }', "executions: there is no mesh axis 'xs' (did you mean 'x'?)"),
        ('id = "batch"', 'id = "batch"\ninputs = ["xx"]', "check 'batch': inputs: `step` in reference.py takes no 'xx'"),
        ("devices = 8", 'devices = 8\nprerequisites = ["move_mean"]', "a problem cannot be its own prerequisite"),
    ],
    ids=lambda text: text[:32],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_refused_on_reading(folder, old, new, said):
    edit(folder, "problem.toml", old, new)
    assert [fault for fault in faults(folder) if said in fault]


def test_names_that_exist_are_accepted(folder):
    edit(folder, "problem.toml", RULE, RULE + '\nexecutions = { at_least = 1, at_most = "x+7" }')
    edit(folder, "problem.toml", 'of = "w"', 'of = "params"')
    edit(folder, "problem.toml", 'id = "batch"', 'id = "batch"\ninputs = ["x"]')
    read_package(folder)


def test_a_reference_that_is_not_python_is_named(folder):
    edit(folder, "reference.py", "def step(", "def step((")
    assert [fault for fault in faults(folder) if fault.startswith("reference.py is not Python: ")]


def test_a_version_that_was_taken_in_before_a_rule_existed_can_still_be_read(folder):
    files = dict(read_package(folder).files)
    files["problem.toml"] = files["problem.toml"].replace('entry = "step"', 'entry = "stpe"')
    with pytest.raises(PackageInvalid, match="does not define 'stpe'"):
        package_of("move_mean", files)
    assert package_of("move_mean", files, is_stored=True).manifest.entry == "stpe"


def test_other_problems_are_told_by_slug_and_uuid(folder):
    edit(folder, "problem.toml", "devices = 8", 'devices = 8\nprerequisites = ["ad_one"]')
    mine, other = read_package(folder).manifest, read_package(PACKAGES / "add_one").manifest
    assert [str(each) for each in unknown_prerequisites(mine, ["move_mean", "add_one"])] == [
        "problem.toml: prerequisites: there is no problem 'ad_one' (did you mean 'add_one'?)"
    ]
    assert unknown_prerequisites(mine, ["ad_one"]) == []
    assert shared_uuids(mine, {"move_mean": mine.uuid, "add_one": other.uuid}) == []
    [shared] = shared_uuids(mine, {"add_one": mine.uuid})
    assert f"uuid: {mine.uuid} belongs to the problem 'add_one'" in shared.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('params = ["w"]', 'params = ["W*"]', "program.groups.params: no leaf of the reference matches 'W*'"),
        (RULE, RULE.replace('"w"', '"w/*"'), "check 'collectives': rules.0.of: no leaf of the reference matches 'w/*'"),
        (RULE, RULE + '\nnot_only_from = ["w/*"]', "rules.0.not_only_from: no leaf of the reference matches 'w/*'"),
        (RULE, RULE + '\nnot_into = ["x"]', "rules.0.not_into: no leaf of the reference matches 'x'"),
        ('id = "sharding"', 'id = "sharding"\nleaves = ["w", "m"]', "leaves: no leaf of the reference matches 'm'"),
        # An input has bytes to count, but no sharding that a submission chooses.
        ('id = "sharding"', 'id = "sharding"\nleaves = ["x"]', "leaves: no leaf of the reference matches 'x'"),
    ],
    ids=lambda text: text[:32],
)
def test_a_glob_that_matches_no_leaf_of_the_reference_is_found(folder, old, new, said):
    edit(folder, "problem.toml", old, new)
    found = unmatched_leaves(read_package(folder).manifest, ["w", "n", "loss"], ["w", "n", "x"])
    assert [fault for fault in found if said in fault] == found != []


def test_globs_that_match_are_accepted(folder):
    edit(folder, "problem.toml", 'id = "sharding"', 'id = "sharding"\nleaves = ["w*", "lo?s"]')
    edit(folder, "problem.toml", RULE, RULE + '\ninto = ["w", "loss"]')
    assert unmatched_leaves(read_package(folder).manifest, ["w", "n", "loss"], ["w", "n", "x"]) == []


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["seed", "y"], ["public-1 gives 'y', which `step` does not take", "program.inputs.x: no case gives 'x'"]),
        (["seed"], ["cases.py: public-1 gives nothing, but `step` takes x, by position", "no case gives 'x'"]),
        (["seed", "x"], []),
        # One argument, sharded in several ways.
        (["seed", "x2"], ["program.inputs.x: no case gives 'x' (did you mean 'x2'?)"]),
    ],
)  # fmt: skip
def test_the_arguments_of_a_case_are_those_of_the_entry_point(names, said):
    package = read_package(PACKAGES / "move_mean")
    found = wrong_cases(package.manifest, package.reference, {"public-1": names})
    assert len(found) == len(said)
    assert all(text in fault for text, fault in zip(said, found, strict=True))


def test_the_judge_prepares_no_package_whose_cases_have_other_arguments(add_one: Package, tmp_path: Path):
    def answer(message: dict, values: dict) -> Frame:
        return {"ok": True}, {"cases": [{"z": np.ones(2, np.float32)}]}

    with pytest.raises(GraderFault, match="public-1 gives 'z', which `add_one` does not take"):
        Judge(NullSandbox(answer), b"s", tmp_path).prepare(add_one)


def test_the_judge_prepares_no_package_whose_globs_match_nothing(folder, tmp_path, monkeypatch):
    edit(folder, "problem.toml", 'id = "sharding"', 'id = "sharding"\nleaves = ["weights"]')

    def answer(message: dict, values: dict) -> Frame:
        return {"ok": True}, {"cases": [{"seed": 1, "x": np.ones((2, 24, 16), np.float32)}]}

    leaves = [("w", None), ("n", None)]
    measured = SimpleNamespace(state_in=leaves, out=[*leaves, ("loss", None)], given=[("x", None)])
    examined = SimpleNamespace(programs=(Examined((), measured, {}, {}),))  # type: ignore[arg-type]
    monkeypatch.setattr("grader.modes.program.mode.examine", lambda *_, **__: examined)
    with pytest.raises(GraderFault, match="check 'sharding': leaves: no leaf of the reference matches 'weights'"):
        Judge(NullSandbox(answer), b"s", tmp_path / "cache").prepare(read_package(folder))


def test_shipped_problems_name_problems_that_exist_and_have_uuids_of_their_own():
    manifests = [read_package(path.parent).manifest for path in PROBLEMS.glob("*/problem.toml")]
    uuids = {manifest.slug: manifest.uuid for manifest in manifests}
    assert [fault for each in manifests for fault in unknown_prerequisites(each, uuids)] == []
    assert [fault for each in manifests for fault in shared_uuids(each, uuids)] == []
