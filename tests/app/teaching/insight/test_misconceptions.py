"""A misconception from an attempt: which attempts, into which draft, and what the file of the draft says."""

import ast

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.problems.package_store import PackageStore
from app.teaching.insight.misconceptions import with_docstring
from app.teaching.insight.problem_summary import cluster_of, summarize
from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.teaching.insight.test_problem_summary import wrong
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
ONE = "/api/v1/problems/add_one"
TEXT = "Returns x, and never adds."


@pytest.fixture
async def people(either):
    """Browsers of two students and an instructor."""
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        yield ada, bob, tess


async def cluster(tess) -> dict:
    [found] = (await tess.get(f"{ONE}/insight")).json()["clusters"]
    return found


async def files(tess, version: str) -> list[str]:
    page = (await tess.get(f"/authoring/add_one/versions/{version}")).text
    return [line for line in page.split("edit?path=") if "attempt_" in line[:80]]


async def test_an_attempt_becomes_a_rejected_submission_of_a_draft(either, people, package):
    ada, bob, tess = people
    first = await send(either, ada, "x = 1\n")
    second = await send(either, bob, "x = 2\n")
    key = (await cluster(tess))["key"]
    found = (await tess.get(f"{ONE}/insight/clusters/{key}")).json()
    assert found["cluster"] == await cluster(tess)
    assert [(each["id"], each["user"]["name"]) for each in found["members"]] == [(second, "bob"), (first, "ada")]

    made = await tess.post(f"{ONE}/insight/misconceptions", json={"attempt": first, "text": TEXT}, headers=SITE)
    assert (made.status_code, made.json()["published"]) == (201, False)
    version = made.json()["version"]
    draft = await either.services[PackageStore].get(version)
    path = f"submissions/rejected/wrong_value/attempt_{first[:12]}.py"
    assert draft.files == {**package.files, path: f'"""{TEXT}"""\nx = 1\n'}
    [mistake] = [each for each in draft.rejected if each.source.endswith("x = 1\n")]
    assert (mistake.misunderstanding, mistake.reason) == (TEXT, "wrong_value")
    assert (await ada.get(ONE)).json()["version"] == package.version

    # The next one continues the draft, and the same attempt again replaces its file.
    more = {"attempt": second, "text": "Another."}
    later = (await tess.post(f"{ONE}/insight/misconceptions", json=more, headers=SITE)).json()["version"]
    both = await either.services[PackageStore].get(later)
    assert len(both.files) == len(draft.files) + 1
    other = {"attempt": first, "text": "Better words."}
    last = (await tess.post(f"{ONE}/insight/misconceptions", json=other, headers=SITE)).json()["version"]
    assert (await either.services[PackageStore].get(last)).files[path].startswith('"""Better words."""')
    on_served = more | {"base": package.version}
    again = (await tess.post(f"{ONE}/insight/misconceptions", json=on_served, headers=SITE)).json()["version"]
    assert path not in (await either.services[PackageStore].get(again)).files


async def test_two_forms_on_pages(either, people):
    ada, _, tess = people
    attempt = await send(either, ada, "x")
    page = f"/problems/add_one/insight/clusters/{(await cluster(tess))['key']}"
    assert f'href="{page}"' in (await tess.get("/problems/add_one/insight")).text
    shown = (await tess.get(page)).text
    assert "The check values fails.</textarea>" in shown
    assert f'value="{attempt}" checked' in shown
    form = {"form_token": form_token(shown), "cluster": page.rsplit("/", 1)[1], "attempt": attempt}
    refused = await tess.post("/problems/add_one/insight/misconceptions", data=form | {"text": ""}, headers=SITE)
    assert refused.status_code == 422
    assert "text: is required." in refused.text
    lines = form | {"text": TEXT.replace(", ", ",\r\n")}
    done = await tess.post("/problems/add_one/insight/misconceptions", data=lines, headers=SITE)
    assert done.status_code == 303
    assert f"attempt_{attempt[:12]}.py" in (await tess.get(done.headers["location"])).text


async def test_which_attempts(either, people):
    ada, _, tess = people
    attempts = {
        "accepted": (await send(either, ada, GOOD), 409, "misconception-refused"),
        "run": (await send(either, ada, "x", "runs"), 404, "attempt-not-found"),
        "instructor": (await send(either, tess, "x"), 404, "attempt-not-found"),
        "unknown": ("0" * 32, 404, "attempt-not-found"),
        "text": ("?", 404, "attempt-not-found"),
    }
    for name, (attempt, status, slug) in attempts.items():
        body = {"attempt": attempt, "text": TEXT}
        answer = await tess.post(f"{ONE}/insight/misconceptions", json=body, headers=SITE)
        assert (answer.status_code, answer.json()["slug"]) == (status, slug), name
    rejected = {"attempt": await send(either, ada, "y"), "text": TEXT}
    answer = await tess.post(f"{ONE}/insight/misconceptions", json=rejected | {"base": "x"}, headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (404, "version-not-found")
    assert (await ada.post(f"{ONE}/insight/misconceptions", json=rejected, headers=SITE)).status_code == 403
    assert (await tess.get(f"{ONE}/insight/clusters/0")).json()["slug"] == "cluster-not-found"


async def test_clusters_are_of_what_was_measured(either, people):
    ada, bob, tess = people
    ids = [await send(either, http, "x") for http in (ada, bob, bob)]
    await me(ada)
    async with either.services[Database].writing() as session:
        for attempt, value in zip(ids, ("2.5", "2.5", "7"), strict=True):
            row = await session.get_one(AttemptRow, attempt)
            row.faults = {**row.faults, "signs": [f"public-1: it is {value}, not 1"], "fingerprint": value}
    found = (await tess.get(f"{ONE}/insight")).json()["clusters"]
    assert [(each["signs"], each["people"]) for each in found] == [
        (["public-1: it is 2.5, not 1"], 2),
        (["public-1: it is 7, not 1"], 1),
    ]
    assert [each["reason"] for each in found] == ["wrong_value"] * 2
    page = (await tess.get("/problems/add_one/insight")).text
    assert "public-1: it is 2.5, not 1" in page
    suggested = (await tess.get(f"/problems/add_one/insight/clusters/{found[0]['key']}")).text
    assert "Measured: public-1: it is 2.5, not 1." in suggested


def test_a_cluster_is_found_by_its_key_or_not_at_all():
    facts = [wrong(1, "ada", "values", "one", fingerprint="f"), wrong(2, "bob", "values", "two", fingerprint="f")]
    facts += [wrong(3, "bob", "values", "two"), wrong(4, "bob", "values", fingerprint="f", misconception="Known.")]
    one = cluster_of(facts[:2], "none")
    assert one is None

    clusters = summarize(facts, "v2").clusters
    assert [(each.attempts, each.people) for each in clusters] == [(2, 2), (1, 1)]
    found = cluster_of(facts, clusters[0].key)
    assert found is not None
    assert [each.id for each in found[1]] == ["1", "2"]


@pytest.mark.parametrize(
    ("source", "rest"),
    [
        ("x = 1", "x = 1\n"),
        ('"""Mine."""\nfrom __future__ import annotations\nx = 1\n', "from __future__ import annotations\nx = 1\n"),
        ("# A comment.\n'''One\n\ntwo.'''; x = 1\n", "# A comment.\nx = 1\n"),
        ('"é" ; y = "é"\r\nx = 1\r\n', 'y = "é"\nx = 1\n'),
        ('f"{1}"\nx = 1\n', 'f"{1}"\nx = 1\n'),
        ("def (:\n", "def (:\n"),
    ],
    ids=["none", "future", "comment", "semicolon", "no-docstring", "syntax"],
)
@pytest.mark.parametrize("text", ["Adds up.", 'Says "so"', "C:\\new", '"""', "ends with \\"])
def test_the_text_replaces_the_docstring(source, rest, text):
    made = with_docstring(source, text)
    assert made.endswith(rest)
    if rest != "def (:\n":
        tree = ast.parse(made)
        assert ast.get_docstring(tree) == text
        assert ast.unparse(tree.body[1:]) == ast.unparse(ast.parse(rest))
