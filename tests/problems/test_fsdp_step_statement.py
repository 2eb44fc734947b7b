"""The text of fsdp_step: its sections, its arithmetic, its figure, its formulas."""

import re
from pathlib import Path
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import optax
import pytest

from app.core.web.markdown import render_markdown

SECTIONS = ["Problem", "Why this matters", "The idea", "Pitfalls"]
PARAMETERS = 70e9
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def statement(folder: Path) -> str:
    return (folder / "statement.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def editorial(folder: Path) -> str:
    return (folder / "editorial.md").read_text(encoding="utf-8")


def giga(number: float) -> str:
    return f"{number / 1e9:.10g} GB"


def test_the_statement_has_these_sections_in_this_order(statement: str) -> None:
    assert re.findall(r"^## (.*)$", statement, re.MULTILINE) == SECTIONS


def test_hints_are_numbered_in_order(folder: Path) -> None:
    headings = re.findall(r"^## (.*)$", (folder / "hints.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [f"Hint {number}" for number in range(1, len(headings) + 1)]
    assert len(headings) >= 3


@pytest.mark.parametrize("file", ["statement.md", "hints.md", "editorial.md"])
def test_every_formula_can_be_drawn(folder: Path, file: str) -> None:
    prose = render_markdown((folder / file).read_text(encoding="utf-8"), figures="/problems/fsdp_step/figures")
    assert "<math" in prose.html
    assert "tex-error" not in prose.html
    # A dollar sign left in the page is a formula that was not recognised as one.
    assert "$" not in prose.html


def test_the_bytes_of_one_linear_layer_are_right(editorial: str) -> None:
    count = (4096 + 1) * 16384
    shapes = jax.eval_shape(lambda: (jnp.zeros((4096, 16384)), jnp.zeros(16384)))
    assert sum(leaf.size for leaf in shapes) == count
    for number in (count, count * 4, count * 4 // 8):
        assert f"{number:,}" in editorial


def test_the_table_of_devices_is_right(editorial: str) -> None:
    for devices in (1, 8, 16, 64):
        weights, everything = giga(PARAMETERS * 2 / devices), giga(PARAMETERS * 16 / devices)
        assert f"| {devices} | {weights} | {everything} |" in editorial


def test_one_gathered_layer_of_eighty_is_right(editorial: str) -> None:
    assert f"80 equal layers, one gathered layer takes {giga(PARAMETERS * 2 / 80)} in bfloat16" in editorial


@pytest.mark.parametrize(
    ("optimizer", "row", "numbers"),
    [
        (optax.sgd(0.1), "| `optax.sgd(lr)` | $0$ |", 0),
        (optax.sgd(0.1, momentum=0.9), "| `optax.sgd(lr, momentum=0.9)` | $P$ |", 100),
        (optax.adam(0.1), "| `optax.adam(lr)` | $2P + 1$: both moments and a step count |", 201),
    ],
)
def test_the_table_of_optimizers_is_right(
    editorial: str, optimizer: optax.GradientTransformation, row: str, numbers: int
) -> None:
    state = jax.eval_shape(lambda: optimizer.init({"kernel": jnp.zeros((9, 10)), "bias": jnp.zeros(10)}))
    assert sum(leaf.size for leaf in jax.tree.leaves(state)) == numbers
    assert row in editorial


def test_every_figure_exists_and_every_existing_one_is_shown(folder: Path, statement: str) -> None:
    shown = re.findall(r"!\[[^\]]{20,}\]\((figures/[^)]*)\)", statement)
    assert sorted(shown) == sorted(path.relative_to(folder).as_posix() for path in (folder / "figures").iterdir())


def test_the_figure_tells_its_content_without_being_seen(folder: Path) -> None:
    root = ElementTree.parse(folder / "figures" / "fsdp_cycle.svg").getroot()
    labels = root.attrib["aria-labelledby"].split()
    named = {element.attrib["id"]: element.text or "" for element in root if "id" in element.attrib}
    assert root.attrib["role"] == "img"
    assert [bool(named[label]) for label in labels] == [True, True]
    assert all(stage in named["desc"] for stage in ("all_gather", "frees", "reduce_scatter", "updates"))


def test_the_figure_holds_drawing_alone(folder: Path) -> None:
    root = ElementTree.parse(folder / "figures" / "fsdp_cycle.svg").getroot()
    assert {element.tag for element in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "desc", "rect", "text", "path")
    }
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]


def test_the_editorial_prints_the_reference(folder: Path, editorial: str) -> None:
    reference = (folder / "reference.py").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", editorial, re.DOTALL)
    body = [line for line in code.splitlines() if line.startswith("    ")]
    assert [line for line in body if line not in reference.splitlines()] == []
