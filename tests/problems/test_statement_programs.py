"""Every program in a statement runs as it is printed, and what the statement says about it is true."""

import re
from typing import Any

import pytest

from tests.grader.shipped_submissions import PROBLEMS
from tests.problems.on_8_devices import STATEMENT_PROGRAMS, statement_programs

# A change of the reader of programs, or of many texts, measures every problem.
pytestmark = [STATEMENT_PROGRAMS, pytest.mark.timeout(900)]
SLUGS = sorted(path.parent.name for path in PROBLEMS.glob("*/problem.toml"))


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return statement_programs()


@pytest.mark.parametrize("slug", SLUGS)
def test_every_block_runs(report: dict[str, Any], slug: str) -> None:
    assert [f"{each['error']} in\n{each['code']}" for each in report["blocks"][slug] if each["error"]] == []


def test_blocks_that_print_print_what_the_comment_beside_them_says(report: dict[str, Any]) -> None:
    """`print(...)  # text`, where the text is what is printed; words around it are left out."""
    gradients, placed = report["blocks"]["dp_shard_map"][0], report["blocks"]["dp_step"][0]
    assert re.findall(r"[\d.]+", re.sub(r"dtype=\w+", "", gradients["printed"])) == [
        f"{number}." for number in (36, *range(1, 9))
    ]
    assert "# 36.0 and [1. 2. 3. 4. 5. 6. 7. 8.]" in gradients["code"]
    assert placed["printed"].strip() in ("P()", "PartitionSpec()")
    assert "print(gradient(w, x).sharding.spec)  # P()" in placed["code"]
    traced = report["blocks"]["psum_scatter_mean"][0]["printed"]
    assert (len(re.findall(r"= all_gather\[", traced)), len(re.findall(r"= reduce_scatter\[", traced))) == (1, 1)


def test_what_the_statements_say_of_explicit_axes_is_so(report: dict[str, Any]) -> None:
    assert report["explicit_axes"] == {
        "axis types of jax.make_mesh": "Explicit",
        "axis types of Mesh": "Auto",
        "a constraint with a split spec": "ValueError",
        "split rows plus a split bias": "ShardingTypeError",
        "a product over a split dimension": "ShardingTypeError",
        "an index into split layers": "ShardingTypeError",
        "a scan over split layers": "ValueError",
        "shard_map of an array with another sharding": "ValueError",
        "the same on Auto axes": "fine",
    }
