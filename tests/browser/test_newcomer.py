"""The way in, as a newcomer takes it: the first lesson, its questions, and three tracks, by the links of the pages.

The judge draws and grades the problems that ask for answers, which are worked out from what the page asks. Of the
others, the text of the reference is accepted, because this is about the way from one to the next.
"""

import ast
import json
import math
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from playwright.sync_api import Locator, Page, StorageState, expect

from tests.browser.browser import CHECKOUT, Service, serve
from tests.browser.sessions import sign_in_by_link
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage, await_verdict, reload_until, turn_to, write

PROBLEMS = CHECKOUT / "problems"
LESSON = CHECKOUT / "lessons" / "one-device"
# The primer, and the two tracks after it.
TRACKS = tomllib.loads((PROBLEMS / "tracks.toml").read_text(encoding="utf-8"))["tracks"][:3]
WAY = [slug for track in TRACKS for slug in track["problems"]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("newcomer")
    for slug in WAY:
        shutil.copytree(PROBLEMS / slug, folder / "problems" / slug)
    shutil.copy(PROBLEMS / "tracks.toml", folder / "problems")
    with serve(folder / "data", problems=folder / "problems", judge="answers") as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(service: Service) -> StorageState:
    return sign_in_by_link(service)


def test_a_newcomer_finds_the_way_from_the_first_lesson_through_three_tracks(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True)
    page.get_by_role("link", name="What JAX sees of your code").first.click()
    saved = json.loads((LESSON / "claims.json").read_text(encoding="utf-8"))["by_name"]["saved"]["value"]
    # After each Check, the page has what was answered before.
    for number, answer in enumerate(("It has one entry.", saved, "They stay as they were."), 1):
        question = page.get_by_role("region", name=f"Question {number}")
        if isinstance(answer, str):
            question.get_by_label(answer).check()
        else:
            question.get_by_label("Your answer").fill(str(answer))
        question.get_by_role("button", name="Check").click()
        expect(question.get_by_role("status")).to_have_text("That is right.")
    path = page.url.partition("?")[0]

    page = open_page(path)
    page.get_by_role("region", name="Now solve").get_by_role("link").first.click()
    for slug, after in zip(WAY, [*WAY[1:], None], strict=True):
        expect(page).to_have_url(re.compile(f"/problems/{slug}$"))
        if slug in ANSWERED:
            _answer(page, ANSWERED[slug])
        else:
            write(page, (PROBLEMS / slug / "reference.py").read_text(encoding="utf-8"))
            page.get_by_role("button", name="Submit").click()
            await_verdict(page, "accepted")
        if after:
            turn_to(page, "Editorial").locator("[data-next]").click()

    page.goto("/problems")
    expect(page.get_by_text(f"{len(WAY)} of {len(WAY)} solved")).to_be_visible()


def _answer(page: Page, solve: Callable[[Locator], dict[str, object]]) -> None:
    """Work out what the question asks, as a person with a pencil would."""
    form = page.locator("form.answers")
    reload_until(page, form)
    for label, value in solve(page.get_by_role("region", name="Your question")).items():
        form.get_by_label(label).fill(str(value))
    form.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-phase]")).to_contain_text("Accepted", timeout=VERDICT_TIMEOUT_MS)


def _placement(asked: Locator) -> dict[str, object]:
    text = asked.inner_text()
    sizes, names = (ast.literal_eval(each) for each in re.findall(r"reshape(\([^)]*\)), (\([^)]*\))", text)[0])
    rows, columns = (int(each) for each in re.findall(r"of (\d+) rows and (\d+) columns", text)[0])
    device = int(re.findall(r"device (\d) hold", text)[0])
    [spec] = re.findall(r"with the spec (P\(.*\))\.", text)
    mesh = dict(zip(names, sizes, strict=True))
    held = _held(mesh, (rows, columns), spec)
    (first_row, end_row), (first_column, end_column) = held[device]
    same = [number for number, each in enumerate(held) if each == held[device]]
    table = [
        tuple(tuple(map(int, cell.split(" to "))) for cell in row.get_by_role("cell").all_inner_texts()[1:])
        for row in asked.get_by_role("row").all()[1:]
    ]
    wanted = [tuple((first, last + 1) for first, last in row) for row in table]
    return {
        "Number of rows on the device": end_row - first_row,
        "Number of columns on the device": end_column - first_column,
        "Its first row": first_row,
        "Its last column": end_column - 1,
        "How many devices hold the same slice": len(same),
        "The highest number among these devices": max(same),
        "The spec of the second placement": next(
            each for each in _specs(list(mesh)) if _held(mesh, (rows, columns), each) == wanted
        ),
    }


def _specs(axes: list[str]) -> Iterator[str]:
    both = [f"({one!r}, {other!r})" for one in axes for other in axes if one != other]
    entries = ["None", *map(repr, axes), *both]
    yield from (f"P({rows}, {columns})" for rows in entries for columns in entries)


def _held(mesh: dict[str, int], shape: tuple[int, int], spec: str) -> list[tuple[tuple[int, int], ...]]:
    """What each device holds: for each dimension the first index, and the one after the last."""
    entries = ast.literal_eval(f"({spec.removeprefix('P(').removesuffix(')')},)") if spec != "P()" else ()
    held = []
    for coordinates in np.ndindex(*mesh.values()):
        at = dict(zip(mesh, coordinates, strict=True))
        of_device = []
        for size, entry in zip(shape, (*entries, None, None), strict=False):
            block, blocks = 0, 1
            for axis in (entry,) if isinstance(entry, str) else entry or ():
                block, blocks = block * mesh[axis] + at[axis], blocks * mesh[axis]
            of_device.append((size // blocks * block, size // blocks * (block + 1)))
        held.append(tuple(of_device))
    return held


def _stored(asked: Locator) -> dict[str, object]:
    text = asked.inner_text()
    shapes = [tuple(int(n) for n in re.findall(r"\d+", each)) for each in re.findall(r"\(\d+,[^)]*\)", text)]
    [dtype] = re.findall(r"all (\w+):", text)
    [devices] = (int(each) for each in re.findall(r"on (\d) devices", text))
    [optimizer] = re.findall(r"with (optax\.\S+\(.*\))\.", text)
    parameters = [jax.ShapeDtypeStruct(shape, jnp.dtype(dtype)) for shape in shapes]
    # The page asks about one of eight optimizers, all of which are written in optax.
    made = eval(optimizer, {"optax": optax, "jnp": jnp})
    state = jax.tree.leaves(jax.eval_shape(made.init, parameters))

    def size(leaf: jax.ShapeDtypeStruct) -> int:
        return math.prod(leaf.shape) * leaf.dtype.itemsize

    def is_split(leaf: jax.ShapeDtypeStruct) -> bool:
        return leaf.ndim > 0 and leaf.shape[0] % devices == 0

    def share(leaf: jax.ShapeDtypeStruct) -> int:
        return size(leaf) // (devices if is_split(leaf) else 1)

    return {
        "Optimizer state on one device, everything whole": sum(map(size, state)),
        "Optimizer state on one device, ZeRO-1": sum(map(share, state)),
        "How many of these bytes are in arrays that ZeRO-1 does not split": sum(
            size(each) for each in state if not is_split(each)
        ),
        "Parameters and optimizer state on one device, FSDP": sum(map(share, [*parameters, *state])),
    }


ANSWERED = {"who_holds_what": _placement, "opt_state_bytes": _stored}
