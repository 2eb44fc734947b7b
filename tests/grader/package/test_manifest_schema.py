"""The schema of problem.toml that editors use is the one by which it is read."""

import copy
import tomllib

import jsonschema_rs
import pytest

from tests.grader.package.manifest_schema import schema
from tests.grader.shipped_submissions import PROBLEMS

VALIDATOR = jsonschema_rs.Draft202012Validator(schema())
MANIFESTS = {
    each.parent.name: tomllib.loads(each.read_text(encoding="utf-8")) for each in PROBLEMS.glob("*/problem.toml")
}


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(titel="x"),
        lambda raw: raw.pop("uuid"),
        lambda raw: raw.update(difficulty="trivial"),
        lambda raw: raw["checks"][2].update(allow=["all-gather"]),
        lambda raw: raw["checks"][2]["rules"][0].update(loops="sometimes"),
        lambda raw: raw["checks"][0].update(id="value"),
        lambda raw: raw["tolerance"].update(flot32={"rtol": 0.0, "atol": 0.0}),
        lambda raw: raw["program"].update(mesh=1),
    ],
)
def test_a_wrong_manifest_is_not(change):
    raw = copy.deepcopy(MANIFESTS["all_gather_tiled"])
    change(raw)
    assert not VALIDATOR.is_valid(raw)
