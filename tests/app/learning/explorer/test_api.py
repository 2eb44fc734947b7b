"""Explorations over REST: requested, run once in the background, read by their owner alone until they are shared."""

import asyncio

import pytest

from app.learning.explorer import service as limits
from grader.core.errors import SubmissionFault
from grader.program.on_chip import OnChip
from tests.app.accounts.people import browser, sign_up
from tests.app.learning.explorer.conftest import Measuring

pytestmark = pytest.mark.anyio
URL = "/api/v1/explorations"


async def explore(service, source="x = 1", headers=None, **fields):
    body = {"problem": "move_mean", "source": source, **fields}
    return await service.http.post(URL, json=body, headers=headers or service.bearer)


async def ended(service, answer):
    assert answer.status_code == 202, answer.text
    while True:
        found = (await service.http.get(answer.headers["location"], headers=service.bearer)).json()
        if found["status"] == "finished":
            return found
        await asyncio.sleep(0.02)


@pytest.fixture
async def measuring(start_service, database_url):
    grader = Measuring()
    async with start_service(grader, database_url=database_url) as service:
        service.grader = grader
        yield service


async def test_a_source_is_explored_on_every_mesh_of_the_problem(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1"))
    assert (found["problem"], found["source"], found["is_mine"]) == ("move_mean", "gather = 1", True)
    result = found["result"]
    assert [each["leaves"]["mesh"] for each in result["programs"]] == [{"x": 8}, {"x": 4}]
    [collective] = result["programs"][0]["collectives"]
    assert (collective["collective"], collective["line"]) == ("all-gather", 1)
    graph = result["programs"][0]["graph"]
    assert [(each["kind"], each["name"], each["collectives"]) for each in graph["nodes"][:3]] == [
        ("input", "w", []),
        ("input", "x", []),
        ("collective", "all-gather", [0]),
    ]
    gather = graph["nodes"][2]
    assert (gather["axes"], gather["groups"], gather["group_size"], gather["line"]) == (["x"], 1, 8, 1)
    assert [(each["source"], each["target"], each["bytes"]) for each in graph["edges"]] == [(0, 2, 4_096)]
    assert (result["against"], result["differences"], result["fault"]) == ([], [], None)


async def test_two_versions_are_compared(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1", against="x = 1"))
    assert found["is_comparison"] is True
    texts = [each["text"] for each in found["result"]["differences"][0]]
    assert any("all-gather" in text for text in texts)
    assert len(found["result"]["against"]) == 2


async def test_with_a_chip_two_versions_are_compared_on_it_as_well(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1", against="gather = ring", chip="v5e"))
    assert found["result"]["differences"] == [[], []]
    on_chip, elsewhere = found["result"]["chip_differences"]
    assert {each["kind"] for each in on_chip} == {"collectives"}
    assert on_chip[-1]["text"] == "reduce-scatter over fsdp moves 16 MiB (line 19); the other has none."
    # The compiler is installed for neither of the two.
    assert elsewhere == []
    found = await ended(measuring, await explore(measuring, "gather = 1", against="gather = ring"))
    assert found["result"]["chip_differences"] == [[], []]


@pytest.mark.parametrize(("source", "against", "of"), [("broken", None, "source"), ("x = 1", "broken", "against")])
async def test_a_source_without_a_program_says_why(measuring, source, against, of):
    found = await ended(measuring, await explore(measuring, source, against=against))
    fault = found["result"]["fault"]
    assert (fault["of"], fault["reason"], fault["line"]) == (of, "syntax_error", 2)
    assert (found["has_fault"], found["result"]["programs"]) == (True, [])


async def test_equal_work_is_not_done_twice_and_other_work_is(measuring):
    await ended(measuring, await explore(measuring, "gather = 1"))
    again = await explore(measuring, "gather = 1")
    assert again.json()["status"] == "finished"
    assert again.json()["result"]["programs"]
    assert again.json() == (await ended(measuring, again))
    headers = {**measuring.bearer, "Prefer": "respond-async, return=minimal"}
    small = await explore(measuring, "gather = 1", headers)
    assert small.headers["preference-applied"] == "return=minimal"
    options = {"xla_options", "against_xla_options"}
    whole = {"is_mine", "source", "against", "phase", "result", "partial_result"}
    assert set(again.json()) - set(small.json()) == whole | options
    assert (await ended(measuring, small))["result"] == again.json()["result"]
    await ended(measuring, await explore(measuring, "gather = 1", against="x = 1"))
    assert measuring.grader.inspected == ["gather = 1", "gather = 1", "x = 1"]


async def test_a_failure_of_the_grader_is_not_kept(start_service, monkeypatch):
    grader = Measuring()
    monkeypatch.setattr(Measuring, "inspect", lambda *args, **named: 1 / 0)
    async with start_service(grader) as service:
        found = await ended(service, await explore(service, "y = 1"))
        assert found["result"]["fault"]["reason"] is None
        assert "The grader failed" in found["result"]["fault"]["message"]
        monkeypatch.undo()
        assert (await ended(service, await explore(service, "y = 1")))["has_fault"] is False


@pytest.mark.parametrize("reason", ["time_limit", "killed", "divergent_collective"])
async def test_a_fault_that_load_may_have_caused_is_not_kept(start_service, monkeypatch, reason):
    def busy(*args, **named):
        raise SubmissionFault(reason, "it took too long")

    grader = Measuring()
    monkeypatch.setattr(Measuring, "inspect", busy)
    async with start_service(grader) as service:
        found = await ended(service, await explore(service, "y = 1"))
        assert found["result"]["fault"]["reason"] == reason
        monkeypatch.undo()
        assert (await ended(service, await explore(service, "y = 1")))["has_fault"] is False


async def test_a_compilation_for_tpus_that_was_stopped_is_not_kept(measuring, monkeypatch):
    stopped = OnChip("v5e:2x4", None, "The compiler was stopped.", compiler="libtpu 1")
    monkeypatch.setattr("tests.app.learning.explorer.conftest._on", lambda *_: stopped)
    for _ in range(2):
        await ended(measuring, await explore(measuring, "gather = 1", chip="v5e"))
    assert measuring.grader.inspected == ["gather = 1", "gather = 1"]


FUNCTION = {
    "name": "f",
    "mesh": {"x": 8},
    "inputs": [{"name": "a", "dtype": "float32", "shape": [8, 16], "spec": ["x"]}],
}


async def test_a_function_is_explored_on_its_own_mesh(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1", problem=None, function=FUNCTION))
    assert (found["problem"], found["version"], found["function"]) == (
        None,
        None,
        FUNCTION | {"explicit": [], "init": None, "modules": {}},
    )
    assert [each["leaves"]["mesh"] for each in found["result"]["programs"]] == [{"x": 8}]
    again = await explore(measuring, "gather = 1", problem=None, function=FUNCTION)
    assert again.json()["status"] == "finished"
    elsewhere = FUNCTION | {"mesh": {"x": 4}}
    other = await ended(measuring, await explore(measuring, "gather = 1", problem=None, function=elsewhere))
    assert [each["leaves"]["mesh"] for each in other["result"]["programs"]] == [{"x": 4}]
    listed = (await measuring.http.get(URL, headers=measuring.bearer)).json()["explorations"]
    assert [each["function"]["mesh"]["x"] for each in listed] == [4, 8, 8]


async def test_a_function_comes_with_modules_which_a_list_leaves_out(measuring):
    for modules in ({"model": "x = 1\n"}, {"model": "x = 2\n"}):
        function = FUNCTION | {"modules": modules}
        found = await ended(measuring, await explore(measuring, "gather = 1", problem=None, function=function))
        assert found["function"]["modules"] == modules
    assert len(measuring.grader.inspected) == 2
    assert (await explore(measuring, "gather = 1", problem=None, function=function)).json()["status"] == "finished"
    listed = (await measuring.http.get(URL, headers=measuring.bearer)).json()["explorations"]
    assert [each["function"]["modules"] for each in listed] == [{}, {}, {}]


async def test_it_is_compiled_for_tpus_as_well(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1", chip="v5e"))
    assert found["chip"] == "v5e"
    large, small = (each["on_chip"] for each in found["result"]["programs"])
    assert (large["topology"], large["hbm_bytes"], large["peak_bytes"]) == ("v5e:2x4", 16 << 30, 8 << 30)
    assert [each["executions"] for each in large["computations"]] == [1, 4, 4]
    backward = large["computations"][2]
    assert [(each["collective"], each["hidden_cycles"], each["line"]) for each in backward["collectives"]] == [
        ("all-gather", 0, 19),
        ("reduce-scatter", 0, 19),
    ]
    assert large["cycles"] == sum(each["cycles"] or 0 for each in large["computations"][0]["steps"])
    assert large["differences"] == [
        "Only the CPU runs all-gather over x: once, 32 KiB.",
        "Only the TPU runs all-gather over fsdp: 8 times, 16 MiB.",
        "Only the TPU runs reduce-scatter over fsdp: 4 times, 16 MiB.",
        "On the TPU, matrix products compute 1,000,000,000 FLOPs, and on the CPU 8,000.",
    ]
    assert (small["topology"], small["fault"]) == ("v5e:2x2", "Not checked: the TPU compiler is not installed here.")


async def test_what_was_compiled_for_one_chip_is_not_the_result_for_another(measuring):
    for chip in (None, "v5e", "v6e"):
        found = await ended(measuring, await explore(measuring, "gather = 1", chip=chip))
        topology = found["result"]["programs"][0]["on_chip"]
        assert (topology and topology["topology"].partition(":")[0]) == chip
    assert len(measuring.grader.inspected) == 3
    assert (await explore(measuring, "gather = 1", chip="v5e")).json()["status"] == "finished"


async def test_a_tpu_that_does_not_exist_is_refused(measuring):
    answer = await explore(measuring, "gather = 1", chip="v9")
    assert (answer.status_code, answer.json()["slug"]) == (422, "field-invalid")
    assert "chip" in answer.json()["detail"]


async def test_a_function_that_does_not_fit_its_mesh_is_refused(measuring):
    odd = FUNCTION | {"inputs": [{"name": "a", "dtype": "float32", "shape": [9], "spec": ["x"]}]}
    for fields, status, slug, message in (
        ({"problem": None, "function": odd}, 409, "function-refused", "a: dimension 0 has 9 elements"),
        ({"problem": None, "function": FUNCTION | {"mesh": {"x": 257}}}, 422, "field-invalid", "mesh"),
        ({"problem": None, "function": FUNCTION | {"inputs": []}}, 409, "function-refused", "There is no input"),
        ({"problem": None, "function": FUNCTION | {"modules": {"jax": ""}}}, 409, "function-refused", "named jax"),
        ({"problem": None, "function": FUNCTION | {"modules": {"m": 1}}}, 422, "field-invalid", "modules"),
        ({"function": FUNCTION}, 422, "field-invalid", "send either problem or function"),
        ({"problem": None}, 422, "field-invalid", "send either problem or function"),
    ):
        answer = await explore(measuring, **fields)
        assert (answer.status_code, answer.json()["slug"]) == (status, slug)
        assert message in answer.json()["detail"]


async def test_what_cannot_be_explored_is_refused(measuring):
    for fields, status, slug in (
        ({"problem": "add_one"}, 409, "nothing-to-explore"),
        ({"problem": "no_such_problem"}, 404, "problem-not-found"),
        ({"source": "  \n"}, 422, "source-empty"),
        ({"against": "a\0b"}, 422, "source-has-nul"),
        ({"source": "x" * 70_000}, 413, "source-too-large"),
        ({"mesh": "8"}, 422, "field-unknown"),
    ):
        answer = await explore(measuring, **({"source": "x = 1"} | fields))
        assert (answer.status_code, answer.json()["slug"]) == (status, slug)
    assert (await measuring.http.get(URL, headers=measuring.bearer)).json() == {"explorations": [], "next": None}


async def test_too_many_are_refused(start_service, monkeypatch):
    monkeypatch.setattr(limits, "MAX_KEPT", 4)
    async with start_service(wall_up=False) as service:
        for number in range(3):
            assert (await explore(service, f"x = {number}")).status_code == 202
        full = await explore(service)
        assert (full.status_code, full.json()["slug"]) == (429, "too-many-explorations")
        assert full.headers["Retry-After"] == "5"
    async with start_service(Measuring()) as service:
        await ended(service, await explore_when_done(service))
        full = await explore(service, "x = 5")
        assert (full.status_code, full.json()["slug"]) == (409, "explorations-full")


async def explore_when_done(service):
    while (answer := await explore(service, "x = 4")).status_code == 429:
        await asyncio.sleep(0.02)
    return answer


async def test_a_list_is_read_page_by_page(measuring):
    ids = [(await ended(measuring, await explore(measuring, f"x = {number}")))["id"] for number in range(3)]
    first = (await measuring.http.get(f"{URL}?limit=2", headers=measuring.bearer)).json()
    assert [each["id"] for each in first["explorations"]] == ids[:0:-1]
    rest = (await measuring.http.get(f"{URL}?limit=2&before={first['next']}", headers=measuring.bearer)).json()
    assert ([each["id"] for each in rest["explorations"]], rest["next"]) == (ids[:1], None)
    unknown = await measuring.http.get(f"{URL}?before={'0' * 32}", headers=measuring.bearer)
    assert (unknown.status_code, unknown.json()["slug"]) == (404, "exploration-not-found")


async def test_another_reads_it_only_while_it_is_shared(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1"))
    here = f"{URL}/{found['id']}"
    async with browser(measuring) as other, browser(measuring) as nobody:
        await sign_up(measuring, other, "student")
        assert [(await each.get(here)).status_code for each in (other, nobody)] == [404, 401]
        for _ in range(2):
            assert (await measuring.http.put(f"{here}/sharing", headers=measuring.bearer)).status_code == 204
        for each in (other, nobody):
            shown = (await each.get(here)).json()
            assert (shown["source"], shown["is_mine"]) == ("gather = 1", False)
        assert (await other.get(URL)).json()["explorations"] == []
        assert (await measuring.http.delete(f"{here}/sharing", headers=measuring.bearer)).status_code == 204
        assert [(await each.get(here)).status_code for each in (other, nobody)] == [404, 401]


async def test_what_is_deleted_is_gone(measuring):
    found = await ended(measuring, await explore(measuring))
    here = f"{URL}/{found['id']}"
    assert (await measuring.http.delete(here, headers=measuring.bearer)).status_code == 204
    for method in ("GET", "DELETE"):
        gone = await measuring.http.request(method, here, headers=measuring.bearer)
        assert (gone.status_code, gone.json()["slug"]) == (404, "exploration-not-found")
    assert (await measuring.http.get(f"{URL}/a%00b", headers=measuring.bearer)).status_code == 404


THRESHOLD, PIPELINED = "xla_gpu_all_gather_combine_threshold_bytes", "xla_gpu_enable_pipelined_all_gather"


async def test_the_options_of_xla_are_part_of_the_work(measuring):
    for options in ({}, {THRESHOLD: "0"}, {THRESHOLD: "1"}):
        found = await ended(measuring, await explore(measuring, "gather = 1", chip="h100", xla_options=options))
        assert found["xla_options"] == (options or None)
    assert measuring.grader.options == [None, {THRESHOLD: "0"}, {THRESHOLD: "1"}]
    again = {PIPELINED: "True", THRESHOLD: "00"}
    assert (await explore(measuring, "gather = 1", chip="h100", xla_options=again)).json()["status"] == "queued"
    same = {THRESHOLD: "00"}
    assert (await explore(measuring, "gather = 1", chip="h100", xla_options=same)).json()["status"] == "finished"


@pytest.mark.parametrize(
    ("fields", "other", "second"),
    [
        ({"against": "x = 1"}, {THRESHOLD: "0"}, "x = 1"),
        ({"against": "x = 1", "against_xla_options": {}}, None, "x = 1"),
        ({"against": "x = 1", "against_xla_options": {PIPELINED: "1"}}, {PIPELINED: "true"}, "x = 1"),
        ({"against_xla_options": {}}, None, "gather = 1"),
    ],
    ids=["the same", "none", "others", "the same source"],
)
async def test_the_other_version_has_its_own_options(measuring, fields, other, second):
    sent = await explore(measuring, "gather = 1", chip="h100", xla_options={THRESHOLD: "0"}, **fields)
    found = await ended(measuring, sent)
    assert (found["against"], found["against_xla_options"]) == (second, other)
    assert measuring.grader.inspected == ["gather = 1", second]
    assert measuring.grader.options == [{THRESHOLD: "0"}, other]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"xla_gpu_none": "1"}, "'xla_gpu_none' is not among the XLA options"),
        ({THRESHOLD: "few"}, f"{THRESHOLD} is set to 'few', but it takes a whole number"),
        ({"xla_dump_to": "/tmp"}, "xla_dump_to has no effect here. The page shows the program as text."),
    ],
    ids=["unknown", "no number", "no effect"],
)
async def test_an_option_that_is_not_taken_is_refused_by_name(measuring, options, message):
    for field in ("xla_options", "against_xla_options"):
        answer = await explore(measuring, "gather = 1", chip="h100", **{field: options})
        assert (answer.status_code, answer.json()["slug"]) == (409, "xla-options-refused")
        assert message in answer.json()["detail"]
