"""What ships as pictures.json is what the judge compiles. One problem in sixteen is drawn again, by what decides it."""

import pytest

from app.authoring.package_pictures import draw_package
from grader.core.context import Context
from grader.judging.judge import Judge
from grader.package.pictures import drawn_from
from tests.grader.conftest import judge, sandbox, shared_cache
from tests.grader.shipped_submissions import package, slugs
from tests.selection import is_drawn, parameters

__all__ = ["judge", "sandbox", "shared_cache"]

DRAWN = [slug for mode in ("call", "program") for slug in slugs(mode) if is_drawn(drawn_from(package(slug)))]


@pytest.mark.parametrize("slug", parameters(DRAWN))
def test_a_shipped_picture_is_what_the_judge_compiles(judge: Judge, slug: str) -> None:
    shipped = package(slug).pictures
    found = draw_package(package(slug), judge, Context())
    assert found is not None
    assert shipped is not None
    assert {name: each.solution for name, each in shipped.variants.items()} == {
        name: each.solution for name, each in found.variants.items()
    }
    for name, each in found.variants.items():
        stored = shipped.variants[name].starter or {}
        assert (stored.get("fault"), bool(stored)) == ((each.starter or {}).get("fault"), bool(each.starter))
