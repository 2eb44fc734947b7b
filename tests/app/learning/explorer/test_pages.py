"""The pages of the Explorer: the form keeps what was sent, and the result leads from a line to what it causes."""

import asyncio
import re
from html import unescape

import pytest
from markupsafe import escape

from app.accounts.service import Accounts
from app.learning.explorer.examples import all_examples, shipped_results
from app.learning.explorer.exploration_view import arrange_explored, lines_of
from app.learning.explorer.explorer_form import ExplorerForm
from app.learning.explorer.service import Explorations
from app.learning.lessons.lesson_files import Lessons
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore
from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.core.xla_options import read_typed
from grader.explorer.description import explored
from grader.package.pictures import drawn_from
from grader.verdicts.pictures import Outline, OutlinedLeaf, Picture, Pictures
from tests.app.accounts.people import SITE, browser, form_token, sign_in, sign_up
from tests.app.learning.explorer.conftest import Measuring
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, product, program

pytestmark = pytest.mark.anyio


@pytest.fixture
async def inside(start_service):
    async with start_service(Measuring()) as service:
        await sign_in(service)
        yield service


async def send(service, **fields):
    page = (await service.http.get("/explore")).text
    data = {"form_token": form_token(page), "problem": "move_mean", **fields}
    return await service.http.post("/explore", data=data, headers=SITE | {"Accept": "text/html"})


async def result_of(service, **fields):
    sent = await send(service, **fields)
    assert sent.status_code == 303
    while 'data-live-part="going"' in (page := (await service.http.get(sent.headers["location"])).text):
        await asyncio.sleep(0.02)
    return sent.headers["location"], page


async def test_the_form_begins_with_the_starter_and_offers_problems_with_a_program(inside, package):
    page = (await inside.http.get("/explore?problem=move_mean")).text
    assert package.starter.splitlines()[0] in page
    assert re.findall(r'<option value="(\w+)" selected', page) == ["move_mean"]
    assert "add_one" not in page
    assert "x = 8" in page
    assert "Nothing explored yet" in page


@pytest.mark.parametrize("compiler", [None, "libtpu 0.0.42.1"])
async def test_chips_are_offered_where_there_is_a_compiler_for_them(inside, monkeypatch, compiler):
    monkeypatch.setattr("grader.core.chips.compilers", lambda: {"gpu": None, "tpu": compiler})
    page = (await inside.http.get("/explore?problem=move_mean")).text
    assert ("Compile for a chip too" in page) == (compiler is not None)
    assert ('<option value="v5p">TPU v5p, 95.0 GiB each</option>' in page) == (compiler is not None)


async def test_the_host_and_the_chip_are_tabs(inside):
    """A link that names the chip opens its tab, once there is a result."""
    starter = inside.services[Explorations].package("move_mean").starter
    _, page = await result_of(inside, source=starter, chip="v5e")
    chosen = 'id="{}" autocomplete="off" checked><label for="{}">{}</label>'
    assert chosen.format("on-host", "on-host", "Host CPUs") in page
    host, chip = (page.count(f'<p class="headline" data-of-platform="{each}">') for each in ("host", "chip"))
    assert (host, chip) == (2, 1)
    linked = (await inside.http.get("/explore?problem=move_mean&chip=v5e")).text
    assert chosen.format("on-chip", "on-chip", "TPU v5e") in linked
    _, page = await result_of(inside, source="gather = 1\n")
    assert 'name="platform"' not in page


async def test_pictures_come_before_tables_and_no_row_is_zero(inside):
    page = (await inside.http.get("/explore?example=training-step")).text.partition("data-result ")[2]
    pictures = ("headline", "Where each leaf lives", "<h3>Communication", "program's graph</h3>", "<h3>Memory and work")
    tables = ("Collectives in numbers", "The graph as a table", "Where each array in between lives", "The HLO that")
    places = [page.index(each) for each in (*pictures, *tables)]
    assert places == sorted(places)
    rows = re.search('<table class="amounts".*?</table>', page, re.DOTALL)[0]
    assert re.findall(r'scope="row">([\w ]+)<', rows) == ["arguments", "outputs", "temporaries"]


async def test_a_link_chooses_the_chip(inside):
    page = (await inside.http.get("/explore?problem=move_mean&chip=h200")).text
    assert '<option value="h200" selected' in page
    assert "<option" in (await inside.http.get("/explore?problem=move_mean&chip=abacus")).text


async def test_the_program_of_a_tpu_shows_what_hides_its_communication(inside):
    here, page = await result_of(inside, source="gather = 1\n", chip="v5e")
    assert "On TPUs, v5e:2x4" in page
    assert "At its peak, the program uses 8.0 GiB of a chip&#39;s 16.0 GiB" in page
    for number in (1, 2):
        assert f"Part {number}, which runs 4 times</caption>" in page
    assert "nothing (everything else waits, about " in page
    assert "On TPUs, v5e:2x2" in page
    assert "Not checked: the TPU compiler is not installed here." in page
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    assert '<option value="v5e" selected' in again


async def test_a_tpu_that_does_not_exist_loses_nothing(inside):
    answer = await send(inside, source="mine = 1\n", chip="<v9>")
    assert answer.status_code == 409
    assert (
        "There is no chip &#39;&lt;v9&gt;&#39; here. Choose one of h100, h200, a100, b200, v5e, v5p, v6e, or none."
        in answer.text
    )
    assert "mine = 1" in answer.text


THRESHOLD = "xla_gpu_all_gather_combine_threshold_bytes"


async def test_options_of_xla_are_typed_and_shown_with_the_result(inside):
    """The fields are there again when the exploration is opened in the form."""
    page = (await inside.http.get("/explore?chip=h100")).text
    assert f"<dt><code>{THRESHOLD}</code></dt>" in page
    here, page = await result_of(inside, source="gather = 1\n", chip="h100", xla_options=f"--{THRESHOLD}=0", **FIELDS)
    assert f"<code>{THRESHOLD}=0</code>" in page
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    assert f"\n--{THRESHOLD}=0</textarea>" in again


async def test_a_link_chooses_options_to_compare_with_none(inside):
    """It may also open a program of a lesson, as those of the lesson on GPUs' schedules do."""
    address = f"/explore?lesson=gpu-schedule&program=5&chip=h100&xla_options=--{THRESHOLD}%3D0"
    page = (await inside.http.get(address)).text
    assert 'name="empty-against_xla_options" checked' in page
    assert f"\n--{THRESHOLD}=0</textarea>" in page
    links = re.findall(
        r'href="(/explore\?[^"]*xla_options[^"]*)"', (await inside.http.get("/lessons/gpu-schedule")).text
    )
    assert len(links) == 3
    for link in links:
        found = re.search(r'name="xla_options"[^>]*>\n(.*)</textarea>', (await inside.http.get(unescape(link))).text)
        assert read_typed(found[1])


async def test_a_source_is_compared_with_itself_without_the_options(inside):
    without = {"xla_options": f"{THRESHOLD}=0", "empty-against_xla_options": "on"}
    here, page = await result_of(inside, source="gather = 1\n", chip="h100", **without, **FIELDS)
    assert "A is compiled with the options of XLA:" in page
    assert "B is compiled with" not in page
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    assert 'name="empty-against_xla_options" checked' in again


async def test_an_option_that_is_not_taken_loses_nothing(inside):
    answer = await send(inside, source="mine = 1\n", chip="h100", xla_options="--xla_gpu_none=1", **FIELDS)
    assert answer.status_code == 409
    assert "&#39;xla_gpu_none&#39; is not among the XLA options" in answer.text
    assert "mine = 1" in answer.text
    assert "--xla_gpu_none=1</textarea>" in answer.text


async def test_the_fields_for_options_need_a_gpu_to_choose(inside, monkeypatch):
    monkeypatch.setattr("grader.core.chips.compilers", lambda: {"gpu": None, "tpu": "libtpu 0.0.42.1"})
    assert 'name="xla_options"' not in (await inside.http.get("/explore")).text


FIELDS = {"problem": "", "function": "f", "mesh": "x=8", "inputs": 'a: float32[8] P("x")'}


async def test_any_function_is_explored_and_opened_again(inside):
    here, page = await result_of(inside, source="gather = 1\n", **FIELDS)
    assert "Mesh x = 8" in page
    assert "a: float32[8] P(&#34;x&#34;)" in page
    for absent in ("The problem", "problem version", "Open in the problem&#39;s editor", "/restore"):
        assert absent not in page
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    for kept in ('value="f"', 'value="x=8"', "a: float32[8]", "gather = 1"):
        assert kept in again
    assert "<code>f</code> on x=8" in again
    fields = {"form_token": form_token(page)}
    assert (await inside.http.post(f"{here}/restore", data=fields, headers=SITE)).status_code == 409


async def test_a_function_that_cannot_be_read_returns_with_all_its_fields(inside):
    refused = await send(inside, source="mine = 1", against="other = 1", **(FIELDS | {"mesh": "x of 8"}))
    assert refused.status_code == 409
    assert "The mesh cannot be read at" in refused.text
    for kept in ("mine = 1", "other = 1", 'value="f"', 'value="x of 8"', "a: float32[8]", "data-fields open"):
        assert kept in refused.text


async def test_the_fields_of_a_function_fold_into_one_line(inside):
    page = (await inside.http.get("/explore")).text
    assert "<span data-fields-line>mlp \N{MIDDLE DOT} data=4, model=2 \N{MIDDLE DOT} 3 inputs</span>" in page
    assert "data-fields open" not in page
    page = (await inside.http.get("/explore?example=training-step")).text
    assert "<span data-fields-line>step \N{MIDDLE DOT} fsdp=8 \N{MIDDLE DOT} 3 inputs</span>" in page
    typed = ExplorerForm(None, "", name="f", mesh="x=2", inputs="y: int32[]\n\n", init="make")
    assert typed.fields_line == "f \N{MIDDLE DOT} x=2 \N{MIDDLE DOT} state from make \N{MIDDLE DOT} 1 input"


async def test_each_example_opens_in_the_form(inside):
    page = (await inside.http.get("/explore")).text
    examples = re.findall(r'href="(/explore\?example=[\w-]+)"', page)
    assert len(examples) == len(all_examples())
    for address, example in zip(examples, all_examples(), strict=True):
        opened = (await inside.http.get(address)).text
        assert f'value="{example.function.mesh_text}"' in opened
        assert f"def {example.function.name}(" in opened


async def test_a_result_leads_from_a_collective_to_its_line(inside):
    here, page = await result_of(inside, source="gather = 1\nrest = 2\n")
    assert 'id="line-1"' in page
    assert 'href="#line-1"' in page
    assert "all-gather over x, sends 28.0 KiB" in page
    assert page.count("Mesh x = ") >= 2
    assert "Where each leaf lives" in page
    listed = (await inside.http.get("/explore")).text
    assert f'href="{here}"' in listed
    assert "compiled" in listed


async def test_an_instruction_of_the_compiled_program_leads_to_its_line(inside):
    _, page = await result_of(inside, source="gather = 1\n")
    assert "The HLO that each device runs" in page
    assert re.search(r'<li data-of-line="line-1"><code>g = f32\[8\] all-gather\(p\)</code> <a href="#line-1">', page)
    assert "body of loop" in page
    assert "And 3 more instructions." in page
    assert "The HLO that" not in (await result_of(inside, source="x = 1"))[1]


async def test_two_versions_begin_with_what_differs(inside):
    _, page = await result_of(inside, source="gather = 1", against="x = 1")
    assert "What differs" in page
    assert "the other has none" in page
    assert page.count("No communication between devices.") == 2
    assert re.search(r"Sent by each device</th><td[^>]*>28.0 KiB</td><td[^>]*>0 B</td><td>more", page)
    _, page = await result_of(inside, source="x = 1", against="gather = 1")
    noted = "{&#34;1&#34;: [&#34;all-gather sends 28.0 KiB +1&#34;, 1]}"
    assert f'data-other-notes="{noted}"' in page
    assert 'id="other-1" data-of-line="other-1"><span class="line-number" data-line="1">' in page
    assert page.index('<span class="cause">all-gather') > page.index('id="other-1"')
    _, page = await result_of(inside, source="x = 1", against="x = 1")
    assert "Nothing: placement, communication, memory and work are equal in both versions." in page


async def test_two_versions_are_compared_on_the_chip_as_well(inside):
    _, page = await result_of(inside, source="gather = 1", against="gather = ring", chip="v5e")
    assert page.count("Nothing: placement, communication, memory and work are equal in both versions.") == 2
    compared = page.partition("On TPUs, v5e:2x4</h3>")[2].partition('<div class="picture')[0]
    assert "Totals of both versions on v5e:2x4" in compared
    assert re.search(
        r"Memory of each chip at its peak</th><td[^>]*>8.0 GiB</td><td[^>]*>8.0 GiB</td><td>equal", compared
    )
    assert "the other has none" in compared
    assert "of B: collectives in numbers" in page
    # No compiler is installed for the other mesh, so there is nothing to compare on it.
    assert "Totals of both versions on v5e:2x2" not in page
    _, page = await result_of(inside, source="gather = 1", against="gather = 1", chip="v5e")
    assert "Nothing: communication, its order, memory and work are equal in both versions." in page


async def test_versions_for_chips_alone_are_compared_on_the_chip(inside):
    _, page = await result_of(inside, source="gather = ragged", against="gather = ragged = ring", chip="v5e")
    assert "XLA does not compile both versions for CPUs." in page
    assert "Nothing: placement is equal in both versions." in page
    assert "Totals of both versions on v5e:2x4" in page


async def test_a_fault_is_shown_at_its_line(inside):
    _, page = await result_of(inside, source="x = 1\nbroken")
    assert "There is no program" in page
    assert 'href="#line-2"' in page


async def test_a_refusal_keeps_both_sources(inside):
    for fields, status, message in (
        ({"source": "", "against": "other = 1"}, 422, "only whitespace"),
        ({"source": "mine = 1", "against": "other = 1", "problem": "add_one"}, 409, "in call mode"),
        ({"source": "mine = 1", "against": "other = 1", "problem": "gone"}, 404, "gone"),
        ({"source": "mine = 1", "against": "other = 1", "form_token": "x"}, 403, "out of date"),
    ):
        refused = await send(inside, **fields)
        assert refused.status_code == status
        assert message in refused.text
        assert "other = 1" in refused.text
        assert fields["source"] in refused.text


async def test_an_attempt_and_an_exploration_open_in_the_form(inside):
    run = await inside.http.post(
        "/api/v1/problems/move_mean/runs", json={"source": "SENT-BEFORE = 1"}, headers=inside.bearer
    )
    opened = (await inside.http.get("/explore", params={"attempt": run.json()["id"]})).text
    assert "SENT-BEFORE = 1" in opened
    here, _ = await result_of(inside, source="gather = 1", against="OTHER = 1")
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    assert "gather = 1" in again
    assert "OTHER = 1" in again
    for params, status in (({"attempt": "0" * 32}, 404), ({"problem": "gone"}, 404), ({"problem": "add_one"}, 409)):
        assert (await inside.http.get("/explore", params=params)).status_code == status
    attempt = (await inside.http.get(f"/attempts/{run.json()['id']}")).text
    assert f'href="/explore?attempt={run.json()["id"]}"' in attempt
    assert 'href="/explore?problem=move_mean"' in (await inside.http.get("/problems/move_mean")).text
    assert "/explore?problem" not in (await inside.http.get("/problems/add_one")).text


REFERENCE = "/explore?problem=move_mean&solution=reference"
LINK = 'href="/explore?problem=move_mean&amp;solution={}"'


async def test_a_solution_is_compared_once_the_problem_is_solved(inside, package):
    link, listed = LINK.format("reference"), "/explore?problem=move_mean"
    async with browser(inside) as http, browser(inside) as nobody:
        await sign_up(inside, http, "ada")
        closed = await http.get(REFERENCE)
        assert closed.status_code == 403
        assert package.reference.splitlines()[-1] not in closed.text
        for path in ("/problems/move_mean/solutions", listed):
            assert link not in (await http.get(path)).text
        sent = {"source": package.reference}
        await http.post("/api/v1/problems/move_mean/attempts?wait=60", json=sent, headers=SITE)
        assert link in (await http.get("/problems/move_mean/solutions")).text
        page = (await http.get(listed)).text
        for each in package.accepted:
            assert LINK.format(each.name) in page
            assert str(escape(" ".join(each.misunderstanding.split()))) in page
        opened = (await http.get(REFERENCE)).text
        assert opened.count(str(escape(package.reference.strip()))) == 2
        assert f'{link} aria-current="true"' in opened
        assert (await nobody.get(REFERENCE)).status_code == 401
        assert link not in (await nobody.get(listed)).text


async def test_an_instructor_opens_every_solution_without_one_of_their_own(inside, package):
    async with browser(inside) as http:
        await sign_up(inside, http, "grace", "instructor")
        assert LINK.format(package.accepted[0].name) in (await http.get("/explore?problem=move_mean")).text
        opened = (await http.get(f"/explore?problem=move_mean&solution={package.accepted[0].name}")).text
        assert opened.count(str(escape(package.accepted[0].source.strip()))) == 1
    tokens = inside.services[Accounts].tokens
    caller = await tokens.caller(inside.bearer["Authorization"].removeprefix("Bearer "))
    token, _ = await tokens.create(caller, "reads", ["read"], None)
    async with browser(inside) as http:
        reads = {"Authorization": f"Bearer {token}"}
        assert (await http.get(REFERENCE, headers=reads)).status_code == 403
        assert LINK.format("reference") not in (await http.get("/explore?problem=move_mean", headers=reads)).text


async def test_the_programs_of_lessons_open_in_the_form(inside):
    lessons = [each for each in inside.services[Lessons].all() if each.explorable]
    page = (await inside.http.get("/explore")).text
    for lesson in lessons:
        assert f'<a href="/lessons/{lesson.slug}">{lesson.title}</a>' in page
        read = (await inside.http.get(f"/lessons/{lesson.slug}")).text
        assert len(re.findall(r'"/explore\?lesson=[\w-]+&amp;program=\d+"', read)) == len(lesson.explorable)
        for each in lesson.explorable:
            link = f'href="/explore?lesson={lesson.slug}&amp;program={each.program}"'
            assert link in page
            assert link in read
    lesson = lessons[0]
    each = lesson.explorable[0]
    opened = (await inside.http.get(f"/explore?lesson={lesson.slug}&program={each.program}")).text
    assert str(escape(lesson.blocks[each.program - 1].code)) in opened
    assert f'value="{each.function.mesh_text}"' in opened
    assert str(escape(each.function.inputs_text)) in opened
    assert 'aria-current="true"' in opened
    for path in (f"lesson={lesson.slug}", f"lesson={lesson.slug}&program=99", "lesson=gone&program=1"):
        assert (await inside.http.get(f"/explore?{path}")).status_code == 404


async def test_a_source_goes_into_the_editor_of_its_problem(inside):
    here, page = await result_of(inside, source="gather = 1")
    fields = {"form_token": form_token(page)}
    opened = await inside.http.post(f"{here}/restore", data=fields, headers=SITE)
    assert opened.headers["location"] == "/problems/move_mean#workbench"
    assert "gather = 1" in (await inside.http.get("/problems/move_mean")).text
    other, _ = await result_of(inside, source="gather = 2")
    asked = await inside.http.post(f"{other}/restore", data=fields, headers=SITE | {"Accept": "text/html"})
    assert asked.status_code == 409
    assert f'action="{other}/restore"' in asked.text


async def test_it_is_shared_and_deleted(inside):
    here, page = await result_of(inside, source="gather = 1")
    fields = {"form_token": form_token(page)}
    async with browser(inside) as nobody:
        shared = await inside.http.post(f"{here}/share", data=fields, headers=SITE)
        assert shared.headers["location"] == here
        shown = await nobody.get(here)
        assert shown.status_code == 200
        assert shown.headers["X-Robots-Tag"] == "noindex"
        assert f"{here}/remove" not in shown.text
        await inside.http.post(f"{here}/unshare", data=fields, headers=SITE)
        assert (await nobody.get(here)).status_code == 401
    removed = await inside.http.post(f"{here}/remove", data=fields, headers=SITE)
    assert removed.headers["location"] == "/explore"
    assert (await inside.http.get(here)).status_code == 404


async def test_where_guests_may_not_run_nobody_gets_a_form(start_service):
    async with start_service(Measuring(), guest_runs_in_total=0) as service, browser(service) as nobody:
        page = await nobody.get("/explore")
        assert page.status_code == 200
        assert "Compiling needs an account" in page.text
        assert f"def {all_examples()[0].function.name}(" in page.text
        assert "<textarea" not in page.text
        fields = {
            "form_token": form_token((await nobody.get("/sign-in")).text),
            "problem": "move_mean",
            "source": "y = 2",
        }
        sent = await nobody.post("/explore", data=fields, headers=SITE | {"Accept": "text/html"})
        assert sent.status_code == 401
        assert "y = 2" in sent.text


def test_a_line_says_what_it_causes_on_the_first_mesh_that_has_it():
    gathers = [exchange("all-gather", 1024, source_line=3, executions=2)] * 6
    gathers += [exchange(kind, 64, source_line=3) for kind in ("all-reduce", "reduce-scatter", "all-to-all", "made-up")]
    gathers.append(exchange("all-gather", 32, source_line=3, loops=("while.1",), executions=None))
    both = [
        program(EIGHT, collectives=gathers, dots=[product(500, 4)]),
        program(FOUR, collectives=[exchange("all-reduce", 2048, 4, source_line=9)], dots=[product(900, 4)]),
    ]
    lines = lines_of(explored(both).programs)
    assert list(lines) == [3, 4, 9]
    assert lines[3] == (
        "12 \N{MULTIPLICATION SIGN} all-gather over x, sends 10.5 KiB",
        "all-reduce over x, sends 56 B",
        "reduce-scatter over x, sends 56 B",
        "all-to-all over x, sends 56 B",
        "2 more",
    )
    assert lines[4] == ("500 FLOP in matrix products",)
    assert lines[9] == ("all-reduce over x, sends 1.5 KiB",)


async def test_a_run_replaces_the_last_unless_that_is_shared_or_the_run_is_refused(inside):
    first, page = await result_of(inside, source="gather = 1")
    id_ = first.rpartition("/")[2]
    refused = await send(inside, source="", replaces=id_)
    assert refused.status_code == 422
    assert (await inside.http.get(first)).status_code == 200
    again, _ = await result_of(inside, source="gather = 1", replaces=id_)
    assert (await inside.http.get(first)).status_code == 404
    await inside.http.post(f"{again}/share", data={"form_token": form_token(page)}, headers=SITE)
    await result_of(inside, source="gather = 2", replaces=again.rpartition("/")[2])
    assert (await inside.http.get(again)).status_code == 200
    async with browser(inside) as http:
        await sign_up(inside, http, "ada")
        data = {"form_token": form_token((await http.get("/explore")).text), "problem": "move_mean", "source": "x = 1"}
        await http.post("/explore", data={**data, "replaces": again.rpartition("/")[2]}, headers=SITE)
    assert (await inside.http.get(again)).status_code == 200


async def test_the_page_names_the_options_of_the_compiler(inside):
    _, page = await result_of(inside, source="gather = 1")
    for name, value in COMPILER_OPTIONS.items():
        assert f"<code>{name}={value}</code>" in page


async def test_the_form_shows_the_result_of_an_exploration_and_of_an_example(inside):
    here, page = await result_of(inside, source="gather = 1")
    opened = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    for part in ("data-result", "Mesh x = 8", "Largest buffers that it writes", f'href="{here}"'):
        assert part in opened
    assert 'data-notes="{&#34;1&#34;: [&#34;all-gather sends 28.0 KiB +1&#34;, 1]}"' in page
    faulty, _ = await result_of(inside, source="broken = 1")
    opened = await inside.http.get("/explore", params={"exploration": faulty.rpartition("/")[2]})
    assert 'data-fault="2"' in opened.text
    example = (await inside.http.get("/explore?example=many-devices")).text
    assert "72.0 MiB on each of the 256 devices" in example


async def test_the_picture_of_a_starter_is_there_once_anyone_has_explored_it(inside):
    picture = "/problems/move_mean/picture"
    assert (await inside.http.get(picture)).status_code == 204
    starter = inside.services[Explorations].package("move_mean").starter
    address, _ = await result_of(inside, source=starter)
    async with browser(inside) as guest:
        drawn = await guest.get(picture)
        assert (drawn.status_code, 'data-explored="on ' in drawn.text) == (200, True)
        # A single exploration stays its owner's.
        assert (await guest.get(f"{address}/picture")).status_code == 401
    assert 'data-explored="on ' in (await inside.http.get(f"{address}/picture")).text


async def test_the_picture_of_a_starter_ships_with_its_package(inside):
    """A starter that stops shows its inputs and where it stops, and its error once."""
    package = inside.services[Explorations].package("move_mean")
    leaf = OutlinedLeaf(
        path="x", dtype="float32", shape=(8,), spec="P('x')", held=tuple(((i, i + 1),) for i in range(8))
    )
    solution = Outline(mesh={"x": 8}, inputs=[leaf], collectives=[], outputs=[])
    message = "Your code raised an exception:\n  line 7, in move_mean\nValueError: not yet"
    fault = {"of": "source", "reason": "error", "message": message, "line": 7}
    picture = Picture(of=drawn_from(package), solution=solution, starter={"fault": fault})
    await inside.services[PackageStore].put_pictures(package.version, Pictures.of_this_jax({"": picture}))
    inside.services[Catalogue].serve(await inside.services[PackageStore].get(package.version))
    async with browser(inside) as guest:
        drawn = (await guest.get("/problems/move_mean/picture")).text
    assert 'The starter stops here: <a href="#line-7">line 7</a>: <strong>ValueError: not yet</strong>' in drawn
    assert drawn.count("not yet") == 2  # once more in the notes of the editor
    assert "<code>x</code>" in drawn
    assert "Sent between devices" not in drawn


async def test_a_program_for_chips_alone_says_so(inside):
    _, page = await result_of(inside, source="gather = ragged = 1", chip="v5e")
    assert "XLA does not compile this program for CPUs. All numbers are those of the program for v5e:2x4." in page
    assert "Differences from the program" not in page


async def test_a_picture_for_a_chip_shows_its_schedule_memory_and_differences(inside):
    picture = "/problems/move_mean/picture?chip=v5e"
    starter = inside.services[Explorations].package("move_mean").starter
    await result_of(inside, source=starter)
    assert (await inside.http.get(picture)).status_code == 204
    await result_of(inside, source=starter, chip="v5e")
    drawn = (await inside.http.get(picture)).text
    for part in ('data-explored="on v5e:2x4"', "8.0 GiB of a chip&#39;s 16.0 GiB", "the schedule", "On host CPUs:"):
        assert part in drawn
    # The form of a link shows what is kept, too.
    assert "8.0 GiB of a chip&#39;s 16.0 GiB" in (await inside.http.get("/explore?problem=move_mean&chip=v5e")).text
    assert "On TPUs" not in (await inside.http.get("/explore?problem=move_mean")).text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/problems/move_mean/picture?chip=v9", 409),  # no such chip
        ("/problems/add_one/picture", 409),  # of mode call: nothing is compiled for a mesh
        ("/problems/nowhere/picture", 404),
        (f"/explore/{'0' * 32}/picture", 404),
        ("/explore/%00%ff/picture", 404),
        (f"/explore/{'a' * 2000}/picture", 404),
    ],
)
async def test_there_is_no_picture_of_what_there_is_not(inside, path: str, status: int):
    assert (await inside.http.get(path)).status_code == status


MODULES = {
    "module-1": "model",
    "module-1-source": "import layers\n",
    "module-2": "layers.py",
    "module-2-source": "y = 1\n",
}


async def test_modules_come_along_and_open_again(inside):
    here, page = await result_of(inside, source="gather = 1\n", **FIELDS, **MODULES)
    assert page.count("<summary>The module <code>") == 2
    assert "The module <code>layers</code>" in page
    again = (await inside.http.get("/explore", params={"exploration": here.rpartition("/")[2]})).text
    for kept in (
        'name="module-1" type="text" value="model"',
        'name="module-2" type="text" value="layers"',
        "\nimport layers\n",
    ):
        assert kept in again
    assert 'name="module-3"' not in again


async def test_a_module_is_added_without_a_script(inside):
    """The button of the form sends it all, and what comes back has one more."""
    sent = await send(inside, source="mine = 1", more="1", **FIELDS, **MODULES)
    assert sent.status_code == 200
    for kept in ("mine = 1", 'value="model"', "y = 1", 'name="module-3" type="text" value=""', 'value="x=8"'):
        assert kept in sent.text
    assert "Nothing explored yet" in sent.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"module-2": "model"}, "Two modules have the same name."),
        ({"module-1": "jax"}, "A module cannot be named jax"),
        ({"module-2": ""}, "&#39;&#39; cannot be the name of a module."),
    ],
    ids=["twice", "installed", "unnamed"],
)
async def test_refused_modules_return_with_the_form(inside, fields, message):
    refused = await send(inside, source="mine = 1", **(FIELDS | MODULES | fields))
    assert refused.status_code == 409
    assert message in refused.text
    for kept in ("mine = 1", "import layers", "y = 1"):
        assert kept in refused.text


async def test_a_module_without_a_name_and_a_text_is_left_out(inside):
    here, _ = await result_of(inside, source="gather = 1\n", **FIELDS, **{"module-1": "", "module-1-source": " \n"})
    found = await inside.http.get(f"/api/v1/explorations/{here.rpartition('/')[2]}")
    assert found.json()["function"]["modules"] == {}


async def test_copies_between_the_memories_of_a_tpu_are_summed_up(inside):
    _, page = await result_of(inside, source="gather = 1\n", chip="v5e")
    assert re.search(r"<summary>The program: \d+ copies from HBM to on-chip memory, [\d.]+ [MK]iB</summary>", page)
    assert "The largest copies in one execution" in page


def test_a_line_of_the_editor_has_a_few_words_and_no_remark():
    notes = [each.text for result in shipped_results().values() for each in arrange_explored(result).notes.values()]
    assert any("all-gather" in each for each in notes)
    # Axes and remarks follow a comma.
    assert not any(", " in each for each in notes)
