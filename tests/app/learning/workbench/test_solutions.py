"""Nobody sees the reference before their own attempt is accepted. Then it is shown beside their source."""

from datetime import UTC, datetime

import pytest

from app.core.web.templating import ENVIRONMENT
from app.grading.attempts.next_problem import next_stops, prepared_by
from app.grading.attempts.progress import Progress
from app.learning.workbench.solutions import coloured, side_by_side
from tests.app.learning.workbench.test_returning import PAGE, send, show

pytestmark = pytest.mark.anyio
SOLUTIONS = f"{PAGE}/solutions"


async def test_the_reference_is_shown_after_an_accepted_attempt(service, package):
    assert "once one of your attempts is accepted" in await show(service, SOLUTIONS)
    await send(service, package, "runs")
    await service.http.post(f"/api/v1{PAGE}/attempts?wait=60", json={"source": "x"}, headers=service.bearer)
    page = await show(service, SOLUTIONS)
    assert "once one of your attempts is accepted" in page
    assert "return" not in page
    assert "/solutions" not in await show(service)
    attempt = await send(service, package, "attempts")
    assert SOLUTIONS in await show(service)
    page = await show(service, SOLUTIONS)
    assert "Yours and the reference" in page
    assert f"/attempts/{attempt}" in page
    for accepted in package.accepted:
        assert (accepted.misunderstanding.split() or [accepted.name])[0] in page


async def test_someone_who_gave_up_reads_the_editorial_and_not_the_reference(service, package):
    given_up = await service.http.get(f"{PAGE}/give-up", headers=service.bearer | {"Accept": "text/html"})
    token = given_up.text.split('name="form_token" value="')[1].split('"')[0]
    answer = await service.http.post(f"{PAGE}/give-up", data={"form_token": token}, headers=service.bearer)
    assert answer.status_code == 303
    assert "EDITORIAL-SECRET" in await show(service)
    assert "once one of your attempts is accepted" in await show(service, SOLUTIONS)


def test_equal_lines_are_beside_each_other():
    rows = side_by_side(
        "import jax\n\n\ndef f(x):\n    return x\n", "import jax\nimport optax\n\n\ndef f(x):\n    return 2 * x"
    )
    assert [(row.mine and row.mine.number, row.reference and row.reference.number, row.same) for row in rows] == [
        (1, 1, True),
        (None, 2, False),
        (2, 3, True),
        (3, 4, True),
        (4, 5, True),
        (5, 6, False),
    ]


def test_a_line_is_closed_html_even_inside_a_string_of_several_lines():
    for line in coloured('"""one\n<b>two</b>\nthree"""\nx = 1'):
        assert line.count("<span") == line.count("</span>")
        assert "<b>" not in line


def test_sources_of_any_length_are_shown():
    rows = side_by_side("x = 1\n" * 3000, "y = 1\n" * 2000)
    assert (len(rows), rows[-1].reference) == (3000, None)
    assert coloured("x = 1\n" * 20_000)[-1] == 'x = <span class="m">1</span>'


class _Package:
    def __init__(self, slug, *prerequisites):
        self.slug = slug
        self.manifest = type("Manifest", (), {"prerequisites": prerequisites, "title": f"Title of {slug}"})


@pytest.mark.parametrize(
    ("worked_on", "going_on", "up_next", "stop"),
    [
        ("", None, "a", "a"),
        ("a", None, "b", "b"),
        ("b a", None, "c", "c"),
        ("c", None, "d", "d"),
        ("d", None, "a", "a"),
        ("a b c d", None, None, None),
        # A question mark: tried, and not solved.
        ("a b?", "b", "d", "b"),
        ("d? a", "d", "b", "b"),
        ("d? a b c", "d", None, "d"),
        ("a? b?", "b", "d", "b"),
    ],
)
def test_the_next_stop_is_the_one_worked_on_or_the_first_open_one_after_it_then_before_it(
    worked_on, going_on, up_next, stop
):
    packages = [_Package("a"), _Package("b", "a"), _Package("c", "b"), _Package("d", "gone")]
    reached = {
        text[0]: Progress(datetime(2026, 1, 5, minute, tzinfo=UTC), 0, accepted="?" not in text)
        for minute, text in enumerate(worked_on.split())
    }
    found = next_stops(packages, reached)
    slugs = tuple(each and each.slug for each in (found.going_on, found.up_next, found.stop))
    assert slugs == (going_on, up_next, stop)


def test_below_an_editorial_are_the_problems_that_this_one_prepares_for():
    packages = [_Package("a"), _Package("b", "a"), _Package("c", "b", "a"), _Package("d", "b")]
    assert [each.slug for each in prepared_by("a", packages)] == ["b", "c"]
    assert prepared_by("d", packages) == []
    prose = type("Prose", (), {"html": ""})
    names = {"slug": "a", "prose": prose, "gave_up_at": None, "exam": None, "is_solved": True}
    shown = ENVIRONMENT.get_template("learning/fragments/editorial.html")
    page = shown.render(editorial=names | {"following": packages[1], "prepared": packages[2:]})
    assert 'It prepares for <a href="/problems/c">Title of c</a> and <a href="/problems/d">Title of d</a>.' in page
    assert "It prepares for" not in shown.render(editorial=names | {"following": packages[1], "prepared": ()})
