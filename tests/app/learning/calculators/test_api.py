"""REST: the same numbers as the pages, with each input in the description."""

import pytest

from app.learning.calculators.tables import BY_NAME, CALCULATORS

pytestmark = pytest.mark.anyio
API = "/api/v1/calculators"


@pytest.fixture
def http(shared_service):
    return shared_service.http


async def test_the_list_has_calculators_and_presets(http):
    found = (await http.get(API)).json()
    assert [each["name"] for each in found["calculators"]] == [each.name for each in CALCULATORS]
    assert {each["kind"] for each in found["presets"]} == {"model", "chip", "link"}
    assert all(each["source"].startswith("https://") for each in found["presets"])


@pytest.mark.parametrize("name", BY_NAME)
async def test_without_inputs_it_uses_the_defaults(http, name):
    found = await http.get(f"{API}/{name}")
    assert found.status_code == 200
    body = found.json()
    calculator = BY_NAME[name]
    assert body["inputs"] == calculator.defaults
    assert {each["name"]: each["value"] for each in body["outputs"]} == calculator.results(calculator.defaults)


async def test_inputs_are_used(http):
    body = (await http.get(f"{API}/state?strategy=dp&parameters=1000&master=no&parameter_dtype=float32")).json()
    assert (body["inputs"]["strategy"], body["inputs"]["parameters"]) == ("dp", 1000)
    assert {each["name"]: each["value"] for each in body["outputs"]}["state"] == 12_004


async def test_what_was_measured_comes_along(http):
    body = (await http.get(f"{API}/pipeline-bubble")).json()
    assert len(body["measured"]) == 6
    assert all(each["measured"] == each["computed"] for each in body["measured"])


async def test_a_value_without_end_is_null(http):
    body = (await http.get(f"{API}/critical-batch?devices=1")).json()
    [ratio] = [each for each in body["outputs"] if each["name"] == "ratio"]
    assert (ratio["value"], ratio["text"]) == (None, "unlimited")


async def test_a_value_out_of_range_is_refused(http):
    found = await http.get(f"{API}/state?devices=0&strategy=none")
    assert found.status_code == 422
    assert {each["field"] for each in found.json()["errors"]} == {"devices", "strategy"}


async def test_impossible_inputs_are_refused_with_the_field(http):
    found = await http.get(f"{API}/state?strategy=hsdp&group=3")
    assert found.status_code == 409
    body = found.json()
    assert body["slug"] == "inputs-impossible"
    assert body["errors"][0]["field"] == "group"
    assert "3 does not divide the number of devices (8)" in body["errors"][0]["message"]


async def test_there_is_no_other_calculator(http):
    assert (await http.get(f"{API}/nothing")).status_code == 404
