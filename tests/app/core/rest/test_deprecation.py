"""A deprecated route announces its end in each response and in the description."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from app.core.rest import deprecation
from app.core.rest.deprecation import DEPRECATED, Deprecation

pytestmark = pytest.mark.anyio
SINCE, ENDS = datetime(2027, 1, 4, tzinfo=UTC), datetime(2027, 8, 2, tzinfo=UTC)


@pytest.fixture
def _deprecated(monkeypatch) -> None:
    monkeypatch.setitem(deprecation.DEPRECATED, "get_me", Deprecation(SINCE, ENDS, "/help/errors"))


@pytest.mark.usefixtures("_deprecated")
async def test_an_operation_that_goes_says_so_in_each_answer_and_in_the_description(start_service):
    async with start_service() as service:
        answered = await service.http.get("/api/v1/me", headers=service.bearer)
        refused = await service.http.get("/api/v1/me")
        assert [answered.status_code, refused.status_code] == [200, 401]
        for answer in (answered, refused):
            assert answer.headers["deprecation"] == f"@{int(SINCE.timestamp())}"
            assert parsedate_to_datetime(answer.headers["sunset"]) == ENDS
            assert answer.headers["link"] == '</help/errors>; rel="deprecation"'
        other = await service.http.get("/api/v1/tokens", headers=service.bearer)
        assert "deprecation" not in other.headers
        paths = (await service.http.get("/openapi.json")).json()["paths"]
        operation = paths["/api/v1/me"]["get"]
        assert operation["deprecated"] is True
        assert "2027-08-02" in operation["description"]
        assert "Sunset" in operation["responses"]["200"]["headers"]
        assert "deprecated" not in paths["/api/v1/me"]["delete"]


def test_nothing_goes_without_half_a_year_of_notice():
    with pytest.raises(ValueError, match="at least 183 days"):
        Deprecation(SINCE, SINCE + timedelta(days=182), "/help/errors")


async def test_what_is_deprecated_is_an_operation(service):
    paths = (await service.http.get("/openapi.json")).json()["paths"]
    names = {operation["operationId"] for operations in paths.values() for operation in operations.values()}
    assert set(DEPRECATED) <= names
