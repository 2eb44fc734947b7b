"""Each student has a variant of a problem, and everything of theirs is in it: texts and attempts."""

import shutil
from collections import Counter

import pytest

from app.grading.queue.null_grader import NullGrader
from app.problems.schemas import ProblemDetail
from app.problems.variants import VariantDraws
from app.teaching.similarity.service import public_code
from grader.package.variants import every_variant, of_variant
from grader.review.reader import package_of, read_package
from tests.app.accounts.people import browser, sign_up
from tests.app.teaching.courses.test_courses import JSON
from tests.app.teaching.people.test_attempts_of_others import me
from tests.grader.shipped_submissions import PROBLEMS

pytestmark = pytest.mark.anyio
PACKAGES = PROBLEMS.parent / "tests" / "grader" / "packages"
SCALE_BY = read_package(PACKAGES / "scale_by")
PROBLEM, ATTEMPTS = "/api/v1/problems/scale_by", "/api/v1/problems/scale_by/attempts"


class Noting(NullGrader):
    """Notes the variant of each submission."""

    def __init__(self) -> None:
        self.judged: list[str | None] = []

    def judge(self, package, *args, **options):
        self.judged.append(package.variant_name)
        return super().judge(package, *args, **options)


@pytest.fixture
def grader(tmp_path, package):
    """`package` writes the problem of all tests beside it."""
    shutil.copytree(PACKAGES / "scale_by", tmp_path / "problems" / "scale_by")
    return Noting()


def drawn(service, account: str) -> str:
    name = service.services[VariantDraws].seen_by(account, SCALE_BY).variant_name
    assert name is not None
    return name


def test_a_draw_is_stable_spread_evenly_and_of_the_problem_not_the_version():
    draws, students = VariantDraws(b"secret"), [f"{number:032x}" for number in range(1000)]
    names = {each: draws.seen_by(each, SCALE_BY).variant_name for each in students}
    assert all(400 < count < 600 for count in Counter(names.values()).values())
    edited = package_of("scale_by", {**SCALE_BY.files, "editorial.md": "Another text.\n"})
    assert edited.version != SCALE_BY.version
    assert all(draws.seen_by(each, edited).variant_name == names[each] for each in students)
    assert any(VariantDraws(b"another").seen_by(each, SCALE_BY).variant_name != names[each] for each in students)


async def test_two_students_have_their_own_texts_and_are_graded_by_them(start_service, grader):
    async with start_service(grader) as service, browser(service) as ada:
        found: set[str] = set()
        number = 0
        # Ids are random, so any number of students may have the same variant.
        while found != {"a", "b"}:
            number += 1
            async with browser(service) as http:
                await sign_up(service, http, f"student{number}")
                mine = drawn(service, await me(http))
                expected = of_variant(SCALE_BY, mine)
                for _ in range(2):
                    shown = (await http.get(PROBLEM)).json()
                    assert shown["statement"] == expected.statement
                    assert shown["starter"] == expected.starter
                    assert shown["helpers"] == {"variant": expected.helpers["variant"]}
                    assert shown["variant"] == {"name": mine, "values": expected.variant.values}
                hints = (await http.get(f"{PROBLEM}/hints")).json()
                assert hints["hints"] == list(expected.hints)
                page = (await http.get("/problems/scale_by")).text
                assert f"this is variant <strong>{mine}</strong>" in page
                sent = await http.post(f"{ATTEMPTS}?wait=60", json={"source": SCALE_BY.reference}, headers=JSON)
                attempt = sent.json()
                assert (attempt["variant"], attempt["verdict"]["variant"]) == (mine, mine), sent.text
                assert grader.judged[-1] == mine
                assert f"variant {mine}" in (await http.get(f"/attempts/{attempt['id']}")).text
                found.add(mine)
        # All who are not signed in read the same one.
        for _ in range(2):
            assert (await ada.get(PROBLEM)).json()["variant"]["name"] == drawn(service, "guest")


async def test_a_response_in_a_variant_is_not_kept_for_others(start_service, grader):
    async with start_service(grader) as service:
        answer = await service.http.get(PROBLEM)
        assert answer.headers["cache-control"] == "private, no-cache"
        assert (await service.http.get("/api/v1/problems/add_one")).headers["cache-control"] == "no-cache"
        assert (await service.http.get("/api/v1/problems/add_one")).json()["variant"] is None


async def test_an_instructor_chooses_a_variant_and_a_student_does_not(start_service, grader):
    async with start_service(grader) as service, browser(service) as tess, browser(service) as ada:
        await sign_up(service, tess, "tess", "instructor")
        await sign_up(service, ada, "ada")
        for name in ("a", "b"):
            shown = (await tess.get(PROBLEM, params={"variant": name})).json()
            assert shown["statement"] == of_variant(SCALE_BY, name).statement
            page = (await tess.get("/problems/scale_by", params={"variant": name})).text
            assert f"You are reading <strong>{name}</strong>" in page
            assert ("graded as your own variant" in page) == (name != drawn(service, await me(tess)))
        for http, slug, name, status, problem in (
            (tess, "scale_by", "c", 404, "variant-not-found"),
            (tess, "add_one", "a", 404, "variant-not-found"),
            (ada, "scale_by", "a", 403, "role-missing"),
            (service.http, "scale_by", "a", 403, "role-missing"),
        ):
            refused = await http.get(f"/api/v1/problems/{slug}", params={"variant": name}, headers=JSON)
            assert refused.status_code == status, refused.text
            assert refused.json()["type"].endswith(problem)


def test_similarity_knows_the_starters_of_all_variants_as_given():
    one, other = every_variant(SCALE_BY)
    assert public_code(one) == public_code(other)


def test_rest_names_the_values():
    assert ProblemDetail.of(SCALE_BY).variant.model_dump() == {
        "name": "a",
        "values": {"axis": "model", "width": 3, "factor": 3},
    }
