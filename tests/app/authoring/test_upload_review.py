"""A package that is hard to read costs its sender a refusal that names a file, and nobody else a second."""

import pytest

from app.authoring import upload_review
from app.authoring.upload_review import faults_of, review_in_bounds
from grader.package.ceiling import Ceiling
from grader.package.fault import PackageFault
from grader.review.reader import package_of
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio


async def test_a_package_is_reviewed_in_another_process_as_in_this_one():
    package = package_of(None, FILES)
    review = await review_in_bounds(FILES, Ceiling(), {"another": package.manifest.uuid})
    assert review.identity == (package.slug, package.version, package.manifest.uuid)
    assert any("belongs to the problem 'another'" in each.message for each in review.faults)
    assert await faults_of(FILES, Ceiling()) == []
    [fault] = await faults_of(FILES, Ceiling(memory_mb=1))
    assert "this service permits at most 1 MiB" in fault.message


async def test_what_exceeds_the_limit_is_refused_and_a_file_named(monkeypatch):
    monkeypatch.setattr(upload_review, "bounded", _exceeded)
    files = FILES | {"reference.py": "x = 1\n" * 1000}
    limit = "takes over 10 s of CPU time"
    message = f"the package {limit} to read: make reference.py, its largest file, simpler or shorter"
    fault = PackageFault("unreadable-file", "reference.py", None, message)
    assert await faults_of(files, None) == [fault]
    review = await review_in_bounds(files)
    assert (review.identity, review.faults) == (None, (fault,))


async def _exceeded(*_, cpu_s):
    raise upload_review.LimitExceeded(f"takes over {cpu_s} s of CPU time")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("points = " + "1" * 5000, "a number or key has more than 400 characters"),
        ("a" + ".b" * 5000 + " = 1", "a key has more than 16 parts"),
        ("a = " + "[" * 5000, "values are nested more than 32 deep"),
    ],
    ids=["integer", "key", "nesting"],
)
async def test_toml_that_takes_too_long_or_cannot_be_used_is_refused(service, line, fault):
    answer = await upload(service, FILES | {"problem.toml": f"{line}\n{FILES['problem.toml']}"})
    assert (answer.status_code, answer.json()["slug"]) == (422, "package-invalid")
    assert answer.json()["faults"][0] == f"problem.toml is not TOML: {fault} (at line 1)"
