"""The way in, as a newcomer takes it: the first lesson, its questions, and four problems, by the links of the pages.

The judge draws and grades the first problem, whose answers are worked out from what the page asks. Of the others, the
text of the reference is accepted, because this is about the way from one to the next.
"""

import ast
import re
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, StorageState, expect

from tests.browser.browser import CHECKOUT, Service, serve
from tests.browser.sessions import sign_in_by_link
from tests.browser.workbench import OpenPage, await_verdict, reload_until, turn_to, write

PROBLEMS = CHECKOUT / "problems"
# In the order of problems/tracks.toml: the first track, and the first problem of the second.
CODE = ["spec_for_shape", "place_the_batch", "all_gather_tiled"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("newcomer")
    for slug in ("who_holds_what", *CODE):
        shutil.copytree(PROBLEMS / slug, folder / "problems" / slug)
    shutil.copy(PROBLEMS / "tracks.toml", folder / "problems")
    with serve(folder / "data", problems=folder / "problems", judge="answers") as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(service: Service) -> StorageState:
    return sign_in_by_link(service)


def test_a_newcomer_finds_the_way_from_the_first_lesson_to_the_fourth_problem(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True)
    page.get_by_role("link", name="Meshes and specs").first.click()
    for number, answer in enumerate(("0", "2", "P('data')"), 1):
        question = page.get_by_role("region", name=f"Question {number}")
        question.get_by_label("Your answer").fill(answer)
        question.get_by_role("button", name="Check").click()
        expect(question.get_by_role("status")).to_have_text("That is right.")
    path = page.url.partition("?")[0]

    page = open_page(path)
    page.get_by_role("region", name="Now solve").get_by_role("link", name="Who holds what").click()
    _answer(page)
    page.get_by_role("link", name="Back to the problem").click()
    _next(page, "spec_for_shape")
    for slug in CODE:
        expect(page).to_have_url(re.compile(f"/problems/{slug}$"))
        write(page, (PROBLEMS / slug / "reference.py").read_text())
        page.get_by_role("button", name="Submit").click()
        await_verdict(page, "accepted")
        if slug != CODE[-1]:
            _next(page, CODE[CODE.index(slug) + 1])

    page.goto("/problems")
    expect(page.get_by_text("4 of 4 solved")).to_be_visible()


def _next(page: Page, slug: str) -> None:
    turn_to(page, "Editorial").locator("[data-next]").click()
    expect(page).to_have_url(re.compile(f"/problems/{slug}$"))


def _answer(page: Page) -> None:
    """Work out what the question asks, as a person with a pencil would."""
    form = page.locator("form.answers")
    reload_until(page, form)
    asked = page.get_by_role("region", name="Your question")
    for label, value in _solution(asked).items():
        form.get_by_label(label).fill(str(value))
    form.get_by_role("button", name="Submit").click()
    await_verdict(page, "accepted")


def _solution(asked: Locator) -> dict[str, object]:
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
