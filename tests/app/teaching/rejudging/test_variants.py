"""A rejudge grades each attempt in the variant that its author had."""

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from grader.review.reader import read_package
from tests.app.loops import quicken
from tests.app.teaching.rejudging.test_rejudge import call, published, rejudged, student, submit
from tests.grader.shipped_submissions import PROBLEMS

pytestmark = pytest.mark.anyio
SCALE_BY = read_package(PROBLEMS.parent / "tests" / "grader" / "packages" / "scale_by")
FILES = {**SCALE_BY.files, "problem.toml": SCALE_BY.files["problem.toml"].replace('"scale_by"', '"add_one"')}


class Noting(NullGrader):
    """Notes the version and the variant of each submission."""

    def __init__(self) -> None:
        self.judged: list[tuple[str, str | None]] = []

    def judge(self, package, *args, **options):
        self.judged.append((package.version, package.variant_name))
        return super().judge(package, *args, **options)


@pytest.fixture
def grader(tmp_path, monkeypatch):
    quicken(monkeypatch)
    for name, text in FILES.items():
        file = tmp_path / "problems" / "add_one" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Noting()


async def test_the_new_version_grades_an_attempt_in_its_variant(start_service, grader):
    async with start_service(grader) as service:
        ada = await student(service, "ada")
        attempt = await submit(service, SCALE_BY.reference, ada)
        # Not the one that would be drawn for her now.
        other = {"a": "b", "b": "a"}[grader.judged[-1][1]]
        async with service.services[Database].writing() as session:
            (await session.get_one(AttemptRow, attempt)).variant = other
        version = await published(service, {**FILES, "editorial.md": "Another text.\n"})
        told = await rejudged(service, version)
        assert (told["total"], told["failed"]) == (1, 0)
        assert grader.judged[-1] == (version, other)


async def test_a_version_without_its_variant_cannot_grade_it(start_service, grader):
    """The attempt keeps its verdict: code for other values would be wrong through no fault of its author."""
    renamed = FILES["problem.toml"].replace('name = "a"', 'name = "c"').replace('name = "b"', 'name = "d"')
    files = {name: text.replace("# variants: a", "").replace("# variants: b", "") for name, text in FILES.items()}
    async with start_service(grader) as service:
        ada = await student(service, "ada")
        attempt = await submit(service, SCALE_BY.reference, ada)
        judged = len(grader.judged)
        told = await rejudged(service, await published(service, {**files, "problem.toml": renamed}))
        assert (told["total"], told["failed"], told["changed"]) == (1, 1, 0)
        assert len(grader.judged) == judged
        kept = (await service.http.get(f"/api/v1/attempts/{attempt}", headers=ada)).json()
        assert kept["verdict"]["status"] == "accepted"
        assert (await call(service, "GET", "")).json()["variant"]["name"] in ("c", "d")
