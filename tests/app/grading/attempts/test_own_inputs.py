"""Runs on your own inputs: over REST and by the form, stored with the run, judged on them, and never scored."""

from dataclasses import replace

import pytest

from app.core.errors import MeshNotFound
from app.grading.attempts.own_inputs import choose, meshes_of
from app.grading.queue.null_grader import NullGrader
from app.problems.catalogue import Catalogue
from grader.inputs.own_inputs import OwnInputs
from grader.package.package import InputSpec
from tests.app.accounts.people import SITE, browser, form_token, sign_in
from tests.grader.shipped_submissions import package as shipped

pytestmark = pytest.mark.anyio
ATTEMPTS, RUNS = "/api/v1/problems/add_one/attempts", "/api/v1/problems/add_one/runs"


class Noting(NullGrader):
    """Notes what each submission was judged on."""

    def __init__(self) -> None:
        self.judged: list[dict[str, object]] = []

    def judge(self, *args, **options):
        self.judged.append(options)
        return super().judge(*args, **options)


async def run(service, inputs, **options):
    body = {"source": "x = 1", "inputs": inputs}
    return await service.http.post(f"{RUNS}?wait=60", json=body, headers=service.bearer | options)


async def test_the_run_is_judged_on_them_and_says_so(start_service, database_url):
    grader = Noting()
    async with start_service(grader, database_url=database_url) as service:
        answer = await run(service, {"seed": 7})
        assert (answer.status_code, answer.json()["kind"], answer.json()["score"]) == (200, "run", None)
        assert answer.json()["inputs"] == {"seed": 7, "mesh": None, "values": None}
        assert grader.judged[-1]["own"] == OwnInputs(7)
        assert grader.judged[-1]["hidden"] is False
        page = (await service.http.get(f"/attempts/{answer.json()['id']}", headers=service.bearer)).text
        assert "Run: inputs of your own, seed 7, not scored" in page
        plain = await run(service, None)
        assert plain.json()["inputs"] is None
        assert "own" not in grader.judged[-1]
        assert (await service.http.get("/api/v1/me/progress", headers=service.bearer)).json() == {"problems": []}


@pytest.mark.parametrize(
    ("inputs", "status", "slug"),
    [
        ({}, 422, "field-missing"),
        ({"seed": -1}, 422, "field-invalid"),
        ({"seed": 2**31}, 422, "field-invalid"),
        ({"seed": 1.5}, 422, "field-invalid"),
        ({"seed": 1, "rows": 3}, 422, "field-unknown"),
        ({"seed": 1, "mesh": "fsdp=8"}, 404, "mesh-not-found"),
    ],
)
async def test_what_cannot_be_drawn_is_refused(service, inputs, status, slug):
    answer = await run(service, inputs)
    assert (answer.status_code, answer.json()["type"].rsplit("#")[-1].rsplit("/")[-1]) == (status, slug)


async def test_a_scored_attempt_has_none(service):
    body = {"source": "x", "inputs": {"seed": 1}}
    answer = await service.http.post(ATTEMPTS, json=body, headers=service.bearer)
    assert answer.status_code == 422
    assert "inputs" in answer.json()["detail"]


async def test_other_inputs_are_another_request(service):
    key = {"Idempotency-Key": "mine"}
    first = await run(service, {"seed": 1}, **key)
    assert (await run(service, {"seed": 1}, **key)).json()["id"] == first.json()["id"]
    assert (await run(service, {"seed": 2}, **key)).status_code == 409


async def test_the_form_without_a_script_runs_on_them_too(service):
    async with browser(service) as http:
        await sign_in(service, http)
        page = (await http.get("/problems/add_one")).text
        form = {"form_token": form_token(page), "action": "own", "revision": "0", "source": "x = 1", "seed": "12"}
        sent = await http.post("/problems/add_one", data=form, headers=SITE)
        assert sent.status_code == 303
        attempt = (await http.get(f"/api/v1{sent.headers['location']}", params={"wait": 10})).json()
        assert attempt["inputs"] == {"seed": 12, "mesh": None, "values": None}
        for seed in ("", "-1", "a", "1e3", str(2**31)):
            refused = await http.post("/problems/add_one", data=form | {"seed": seed}, headers=SITE)
            assert refused.status_code == 400
            assert "The seed must be a whole number from 0 to 2,147,483,647" in refused.text
            assert "x = 1</textarea>" in refused.text


@pytest.fixture
def typing(service, package):
    """The service, with a problem whose `x` can be typed."""
    manifest = package.manifest.model_copy(update={"inputs": {"x": InputSpec(dtype="float32", shape=["n"])}})
    service.services.add(Catalogue([replace(package, manifest=manifest)]))
    return service


async def test_typed_values_are_stored_and_said(typing):
    answer = await run(typing, {"seed": 7, "values": {"x": [1, 2.5]}})
    assert answer.json()["inputs"] == {"seed": 7, "mesh": None, "values": {"x": [1, 2.5]}}
    page = (await typing.http.get(f"/attempts/{answer.json()['id']}", headers=typing.bearer)).text
    assert "Run: inputs of your own, seed 7, with your x, not scored" in page


async def test_values_that_do_not_fit_are_refused_by_name(typing):
    answer = await run(typing, {"seed": 7, "values": {"x": [[1]], "z": 1}})
    assert (answer.status_code, answer.json()["type"].rsplit("/")[-1].rsplit("#")[-1]) == (409, "inputs-unfit")
    assert answer.json()["faults"] == {
        "x": "must have 1 dimension, not 2: float32, (n,), such as [1, 2].",
        "z": "cannot be typed here. You can type x.",
    }


async def test_the_form_keeps_what_was_typed_and_says_what_is_wrong_beside_it(typing):
    async with browser(typing) as http:
        await sign_in(typing, http)
        page = (await http.get("/problems/add_one")).text
        assert "float32, (n,)" in page
        form = {"form_token": form_token(page), "action": "own", "revision": "0", "source": "x = 1", "seed": "12"}
        for text, fault in (
            ("[1, ", "is not JSON. Write 0.5"),
            ("NaN", "is not JSON"),
            ("[[1]]", "must have 1 dimension"),
        ):
            refused = await http.post("/problems/add_one", data=form | {"value.x": text}, headers=SITE)
            assert refused.status_code == 409
            assert f'name="value.x" value="{text}"' in refused.text
            assert 'aria-invalid="true"' in refused.text
            assert refused.text.count(fault) == 2
        sent = await http.post("/problems/add_one", data=form | {"value.x": " [3, 4] "}, headers=SITE)
        assert sent.status_code == 303
        attempt = (await http.get(f"/api/v1{sent.headers['location']}", params={"wait": 10})).json()
        assert attempt["inputs"]["values"] == {"x": [3, 4]}


def test_a_problem_of_mode_program_names_its_meshes():
    problem = shipped("psum_scatter_mean")
    assert list(meshes_of(problem)) == ["fsdp=8", "fsdp=4"]
    assert choose(problem, 3, "fsdp=4") == OwnInputs(3, {"fsdp": 4})
    with pytest.raises(MeshNotFound, match="Choose one of these: fsdp=8; fsdp=4"):
        choose(problem, 3, "data=2")
