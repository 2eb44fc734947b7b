"""The program in the editorial runs as printed, trains like the same network without shards, and is FSDP."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.rotation("problems/fsdp_step/editorial.md", "tests/problems/recipe", "uv.lock")


@pytest.fixture(scope="module")
def report(
    folder: Path, on_8_devices: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    editorial = (folder / "editorial.md").read_text(encoding="utf-8")
    section = editorial.split("## The recipe in production")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python program\n(.*?)```", section, re.DOTALL)
    recipe = tmp_path_factory.mktemp("recipe") / "recipe.py"
    recipe.write_text(code, encoding="utf-8")
    found = on_8_devices("recipe_against_plain_step.py", recipe)
    assert found["devices"] == 8
    return found


def test_the_losses_are_those_of_the_unsharded_step(report: dict[str, Any]) -> None:
    assert len(report["losses"]) == 4
    assert report["losses"] == pytest.approx(report["plain_losses"], rel=1e-5)


def test_the_parameters_are_those_of_the_unsharded_step(report: dict[str, Any]) -> None:
    # Adam moves a parameter by about 1e-3 in each of four steps: a gradient off by a factor of 8 would show.
    assert report["drift"] < 1e-5


def test_each_device_stores_an_eighth_of_every_leaf_that_divides(report: dict[str, Any]) -> None:
    whole = 0
    for shape, shard in report["shards"]:
        elements, own = _count(shape), _count(shard)
        whole += own == elements
        assert own in {elements, elements // 8}
    # The bias of length 10 with its two moments, and the step count.
    assert whole == 4


def test_gradients_are_reduced_by_reduce_scatter_and_weights_gathered_again(report: dict[str, Any]) -> None:
    sharded_parameters = 5
    assert report["reduce_scatters"] == sharded_parameters
    # The editorial says that XLA on CPU devices merges the second gather with the first.
    assert report["gathers_compiled"] == sharded_parameters
    # The backward pass needs the kernels of the second and third layer once more.
    assert report["gathers_traced"] >= sharded_parameters + 2


def _count(shape: list[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product
