"""The pages: a form without a script, results at an address, and faults at their fields."""

import re
from html import unescape

import pytest
from markupsafe import escape

from app.core.web.units import TIMES
from app.learning.calculators.comparison import QUANTITIES, bars_by_chips, tables
from app.learning.calculators.comparison_programs import OWN_PROGRAMS
from app.learning.calculators.measured_programs import ON_GPUS, REFERENCES
from app.learning.calculators.tables import CALCULATORS
from tests.app.accounts.people import browser

pytestmark = pytest.mark.anyio
NAMES = [each.name for each in CALCULATORS]


@pytest.fixture
async def page_of(shared_service):
    """Reads a page as a guest."""
    async with browser(shared_service) as http:

        async def page(path: str, status: int = 200) -> str:
            answer = await http.get(path, headers={"Accept": "text/html"})
            assert answer.status_code == status, answer.text[:500]
            return answer.text

        yield page


def main_of(page: str) -> str:
    """The page without its header, which has a token of its own."""
    return page[page.index("<main") : page.index("</main>")]


async def test_the_list_links_every_calculator_and_the_navigation_links_the_list(page_of):
    page = await page_of("/calculators")
    for name in NAMES:
        assert f'href="/calculators/{name}"' in page
    assert '<a href="/calculators">Calculators</a>' in await page_of("/")


@pytest.mark.parametrize("name", NAMES)
async def test_a_calculator_shows_inputs_results_and_a_plot_with_its_table(page_of, name):
    page = await page_of(f"/calculators/{name}")
    calculator = CALCULATORS[NAMES.index(name)]
    for each in calculator.inputs:
        assert f'<label for="{each.name}">' in page
        assert f'id="{each.name}"' in page
    for each in calculator.outputs:
        assert each.label in page
    for each in calculator.sources:
        assert each.href in page
    assert re.search(r'<svg class="drawing chart" role="img".*?<title>.+?</title><desc>.+?</desc>', page)
    assert "The same numbers as a table" in page
    assert not re.search(r"\sstyle=|<script(?![^>]*src=)", page)


def test_folded_inputs_are_inputs_of_the_calculator_and_in_one_fold_only():
    for each in CALCULATORS:
        folded = [name for _, names in each.folded for name in names]
        assert len(folded) == len(set(folded)), each.name
        assert set(folded) < {field.name for field in each.inputs}, each.name


def folds_of(page: str) -> dict[str, tuple[bool, str]]:
    """By title: whether a fold is open, and the values in its summary."""
    folds = re.findall(r'<details class="fold"( open)?>\s*<summary><span>(.*?)</span> <span[^>]*>(.*?)</span>', page)
    return {title: (bool(is_open), values) for is_open, title, values in folds}


async def test_the_result_comes_before_the_inputs_and_a_fold_shows_its_values(page_of):
    page = await page_of("/calculators/state")
    assert page.index('class="main-results"') < page.index('id="inputs"') < page.index('id="every"')
    assert folds_of(page) == {
        "HSDP and tensor parallelism": (False, "Group size 4 devices · Tensor axis 2 devices"),
        "Dtypes and optimizer": (
            False,
            "Parameters in: bfloat16 · Gradients in: bfloat16 · Optimizer: Adam · Moments in: float32"
            " · float32 master weights: Yes",
        ),
    }


@pytest.mark.parametrize(
    ("query", "is_open"),
    [("", (False, False)), ("optimizer=sgd", (False, True)), ("strategy=hsdp&group=2", (True, False))],
)
async def test_a_fold_is_open_where_an_input_was_changed(page_of, query, is_open):
    assert tuple(each for each, _ in folds_of(await page_of(f"/calculators/state?{query}")).values()) == is_open


async def test_a_fold_is_open_where_an_input_is_wrong_and_closed_where_a_preset_filled_it(page_of):
    wrong = folds_of(await page_of("/calculators/peak-memory?layers=none", status=422))
    assert wrong["Shape of the model"][0]
    assert not wrong["Dtypes and optimizer"][0]
    filled = folds_of(await page_of("/calculators/peak-memory?layers=80"))
    assert filled["Shape of the model"] == (
        False,
        "Layers 80 · Hidden size 4096 · Attention heads 32 · Sequence length 4096 tokens",
    )


async def test_the_address_of_a_result_has_every_input_and_gives_the_same_result(page_of):
    page = await page_of("/calculators/state?parameters=70_553_706_496&devices=64")
    address = re.search(r'href="(/calculators/state\?[^"]+)">Link', page)
    assert address
    again = await page_of(address[1].replace("&amp;", "&"))
    assert main_of(again) == main_of(page).replace('value="70_553_706_496"', 'value="70553706496"')
    assert "14.4 GiB" in page
    assert "15,433,623,300 bytes" in page


async def test_numbers_may_be_typed_as_people_write_them(page_of):
    plain = await page_of("/calculators/state?parameters=7000000000")
    for typed in ("7e9", "7,000,000,000", "7_000_000_000", "+7000000000"):
        page = await page_of(f"/calculators/state?parameters={typed.replace('+', '%2B')}")
        assert main_of(page).replace(f'value="{typed}"', 'value="7000000000"') == main_of(plain)


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ("devices=eight", "devices", "Enter a number, such as 8."),
        ("devices=", "devices", "Enter a number, such as 8."),
        ("devices=0", "devices", "Enter a number from 1 to 1,048,576."),
        ("devices=1.5", "devices", "Enter a whole number, such as 8."),
        ("devices=1e999", "devices", "Enter a number from 1 to 1,048,576."),
        ("strategy=none", "strategy", "Choose one of: dp, zero1,"),
        ("strategy=hsdp&group=3", "group", "3 does not divide the number of devices (8)"),
    ],
)
async def test_a_fault_is_shown_at_its_field(page_of, query, field, reason):
    page = await page_of(f"/calculators/state?{query}", status=422)
    assert re.search(rf'<p class="fault small" id="fault-{field}">{re.escape(reason)}', page)
    assert re.search(rf'id="{field}"[^>]*aria-describedby="[^"]*fault-{field}[^>]*aria-invalid="true"', page)
    assert f'<a href="#{field}">' in page
    assert 'id="results"' not in page


async def test_several_faults_are_shown_at_once(page_of):
    page = await page_of("/calculators/state?devices=x&parameters=y", status=422)
    assert page.count('class="fault small"') == 2


async def test_what_was_typed_is_text(page_of):
    page = await page_of("/calculators/state?devices=%3Cscript%3Ealert(1)", status=422)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


async def test_a_preset_replaces_its_inputs_and_keeps_the_others(page_of):
    page = await page_of("/calculators/state?devices=64")
    links = re.findall(r'<a href="(/calculators/state\?[^"]+)" rel="nofollow"[^>]*>([^<]+)</a>', page)
    address = next(href.replace("&amp;", "&") for href, title in links if title == "Llama 3.1 70B")
    chosen = await page_of(address)
    assert 'value="70553706496"' in chosen
    assert 'value="64"' in chosen
    assert re.search(r'aria-current="true">Llama 3.1 70B', chosen)


async def test_each_measured_number_is_beside_the_computed_one(page_of):
    page = await page_of("/calculators/state")
    measured = page[page.index('id="measured"') :]
    assert '<a href="/problems/fsdp_shard_map_step">' in measured
    assert measured.count("22,600") >= 4
    link = re.search(r'href="([^"]+)" rel="nofollow" aria-label="22,600: calculate', measured)
    assert link
    assert "22,600 bytes" in await page_of(link[1].replace("&amp;", "&"))
    assert "Every measured number equals the computed one." in page
    bounded = await page_of("/calculators/peak-memory")
    assert "below the bound" in bounded
    assert "The computed numbers are upper bounds: no measured number is higher." in bounded
    assert '<th scope="col">On H100s</th>' in bounded
    assert f'<td class="number">{ON_GPUS["dp_step", 8].memory:,}</td>' in bounded
    assert '<th scope="col">On H100s</th>' not in await page_of("/calculators/flops")
    assert "Not measured here, because there is no network:" in await page_of("/calculators/communication-time")


async def test_the_comparison_shows_every_program_with_its_problem(page_of):
    page = await page_of("/comparison")
    for slug in ("dp_step", "zero1_opt_state", "fsdp_auto_step", "fsdp_shard_map_step", "hsdp_step", "gpipe_forward"):
        assert page.count(f'href="/problems/{slug}"') == 2
    for number in ("180,772", "75,324", "22,600", "45,196", "105,455", "158,179", "3,784,704"):
        assert number in page
    assert re.search("6 . reduce-scatter over fsdp", page)


async def test_a_row_of_our_own_links_to_its_source_and_says_where_it_differs(page_of):
    comparison = main_of(await page_of("/comparison"))
    for name, program in OWN_PROGRAMS.items():
        assert comparison.count(f'<th scope="row"><a href="/comparison/{name}">') == 2
        page = main_of(await page_of(f"/comparison/{name}"))
        assert f"<h1>{program.title}</h1>" in page
        shown = unescape(re.sub("<[^>]+>", "", page[page.index('<pre class="source"') :]))
        assert program.source.strip() in shown
        for text in (comparison, page):
            assert escape(program.note) in text
        for mesh in program.meshes:
            assert ", ".join(f"{axis}={size}" for axis, size in mesh.items()) in page


async def test_only_the_pipeline_has_upper_bounds(page_of):
    """The compiler's text has both stages. A device computes one of them, and sends in one direction."""
    page = main_of(await page_of("/comparison"))
    bounds = [number.replace(",", "") for number in re.findall("≤ ([0-9,]+)", page)]
    measured = [each for each in REFERENCES if each.name == "pipeline"]
    on_gpus = [ON_GPUS[each.name, each.devices] for each in measured]
    assert bounds == [
        str(number)
        for each, gpus in zip(measured, on_gpus, strict=True)
        for number in (each.sent, each.flops, gpus.sent)
    ]


async def test_the_comparison_says_what_gpus_run_and_that_both_kinds_of_fsdp_are_one_program_there(page_of):
    page = main_of(await page_of("/comparison"))
    kinds = ("all-gather", "reduce-scatter", "all-reduce")
    assert ", ".join(f"1 {TIMES} {kind} over fsdp" for kind in kinds) in page
    assert ON_GPUS["fsdp_auto_step", 8] == ON_GPUS["fsdp_shard_map_step", 8]
    assert ON_GPUS["dp_step", 8].sent == 105_455


async def test_an_unknown_program_of_the_comparison_is_named(page_of):
    page = await page_of("/comparison/zero3", status=404)
    assert "The comparison has no program &#39;zero3&#39; (did you mean &#39;zero2&#39;?)" in page


async def test_an_unknown_calculator_is_named(page_of):
    assert "There is no calculator &#39;stat&#39; (did you mean &#39;state&#39;?)" in await page_of(
        "/calculators/stat", status=404
    )


async def test_bars_of_a_quantity_have_one_scale_for_all_chips(page_of):
    panels = bars_by_chips(tables())
    assert [each.chips for each in panels] == ["8 host CPUs", "4 host CPUs", "8 H100s", "4 H100s"]
    for place in range(len(QUANTITIES)):
        bars = [row.bars[place] for panel in panels for row in panel.rows]
        widths = {value: float(re.findall(r'class="bar bar-mine" width="([\d.]+)"', bar)[0]) for value, bar in bars}
        most = max(widths)
        for value, width in widths.items():
            assert width == pytest.approx(widths[most] * value / most, abs=0.1)
    page = await page_of("/comparison")
    assert page.count('class="bar-drawing"') == sum(len(row.bars) for panel in panels for row in panel.rows)
