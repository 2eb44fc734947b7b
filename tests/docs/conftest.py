"""PostgreSQL for the pages that use one, and a data folder that has been used before."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.app.accounts.people import PASSWORD, form_token
from tests.app.conftest import postgres_server
from tests.docs.reader import TOKEN, Done, Reader

__all__ = ["postgres_server"]

Follow = Callable[..., AbstractContextManager[Reader]]


@pytest.fixture(scope="session")
def programs() -> None:
    """Require the other programs that the documentation's commands call."""
    if missing := [name for name in ("curl", "jq", "openssl", "zip") if shutil.which(name) is None]:
        message = f"{', '.join(missing)} needed to follow the guides; on Debian: apt-get install {' '.join(missing)}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def used_data(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the owner and the student `ada`, who signed up by an invitation."""
    reader = Reader(tmp_path_factory.mktemp("used") / "checkout", problems={}, judge=False, database_url=None)
    try:
        address = re.findall(r"http://\S+", reader.run("./meshgrade serve").output)[0]
        with httpx.Client(base_url=address, headers={"Origin": address}, timeout=60) as http:
            invited = http.post(
                "/api/v1/invitations",
                json={"note": "Ada", "expires_in_days": 7},
                headers={"Authorization": f"Bearer {TOKEN}"},
            )
            link = invited.json()["url"]
            page = http.get(link, headers={"Accept": "text/html"}).text
            fields = {"name": "ada", "password": PASSWORD, "invitation": link.rpartition("=")[2]}
            made = http.post("/sign-up", data={"form_token": form_token(page), **fields})
            assert made.status_code == 303, made.text
    finally:
        reader.close()
    return reader.folder / "data"


@pytest.fixture(scope="session")
def databases() -> list[str]:
    """The names of databases that are taken."""
    return []


@pytest.fixture
def follow(
    request: pytest.FixtureRequest, tmp_path: Path, used_data: Path, databases: list[str]
) -> Iterator[Callable[..., AbstractContextManager[Reader]]]:
    """Start a reader. A `fresh` reader has no data folder yet."""

    @contextmanager
    def start(
        *, problems: dict[str, list[str]], judge: bool = False, fresh: bool = False, postgresql: bool = False
    ) -> Iterator[Reader]:
        url, options = None, {}
        if postgresql:
            server = request.getfixturevalue("postgres_server")
            server.ensure_postgres_running()
            # The database stays, because the server is removed after the tests.
            name = f"followed_{len(databases)}"
            databases.append(name)
            server.psql(f"CREATE DATABASE {name}")
            url = server.get_uri(database=name)
            # Under load, the server has been found stopped between two commands.
            options = {"before_each": server.ensure_postgres_running}
        folder = tmp_path / "checkout"
        reader = Reader(folder, problems=problems, judge=judge, database_url=url, **options)
        try:
            if not fresh:
                shutil.copytree(used_data, folder / "data")
            yield reader
        finally:
            reader.close()

    return start


@pytest.fixture(scope="session")
def judged() -> dict[str, Done]:
    """The output of `judge`, `inspect` and `doctor`: each takes many seconds, and prints the same on every page."""
    return {}
