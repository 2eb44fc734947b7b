"""`worker` as an operator sees it: its output, its refusals, and a clean end on SIGTERM."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.entry.cli.test_serve import environment
from tests.app.grading.attempts.test_submit import ATTEMPTS

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]
SCRIPT = (str(Path(__file__).with_name("worker_null.py")),)
# Without the stand-in for the judge, which imports what a worker that refuses to start never reaches.
PRODUCT = ("-m", "app.entry.cli")


async def start(*arguments, program=SCRIPT, **further):
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *program, "worker", *arguments),
        env=environment(**further),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def refused(program=PRODUCT, **further):
    process = await start(program=program, **further)
    said, error = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, said) == (2, b"")
    assert b"Traceback" not in error
    return error.decode()


@asynccontextmanager
async def working(*arguments, **further):
    process = await start(*arguments, **further)
    try:
        said = ""
        while "Grading" not in said:
            line = await asyncio.wait_for(process.stdout.readline(), 60)
            assert line, (said, await process.stderr.read())
            said += line.decode()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_needs_nothing_but_the_database_and_a_signal_ends_it_well(start_service, package, shared_url, number):
    async with (
        start_service(database_url=shared_url, grading_slots=0) as service,
        working(MESHGRADE_DATABASE_URL=shared_url) as worker,
    ):
        # A worker elsewhere cannot read the server's problems folder: it reads the package from the database.
        answer = await service.http.post(
            f"{ATTEMPTS}?wait=60", json={"source": package.reference}, headers=service.bearer
        )
        assert answer.json()["verdict"]["status"] == "accepted"
        worker.send_signal(number)
        said, error = await asyncio.wait_for(worker.communicate(), 60)
        assert worker.returncode == 0
        # It logs the steps of the grading, and no warning.
        assert {line.split()[1] for line in error.decode().splitlines()} == {"info"}
        assert b"Stopping" in said


async def test_without_an_address_or_with_a_wrong_one_it_says_what_to_set(tmp_path):
    said = await refused()
    assert "needs the server's database" in said
    assert "MESHGRADE_DATABASE_URL" in said
    assert "cannot share a SQLite database" in await refused(MESHGRADE_DATABASE_URL=f"sqlite+aiosqlite:///{tmp_path}/x")
    assert "is not a database URL" in await refused(MESHGRADE_DATABASE_URL="nonsense")
    said = await refused(MESHGRADE_DATABASE_URL="postgresql://user:hunter2@127.0.0.1:1/nothing")
    assert "cannot be opened" in said
    assert "hunter2" not in said
    further = {"MESHGRADE_DATABASE_URL": "postgresql://host/x", "MESHGRADE_GRADING_SLOTS": "0"}
    assert "would grade nothing" in await refused(**further)


async def test_a_missing_wall_is_named_with_its_remedy(start_service, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0):
        said = await refused(SCRIPT, MESHGRADE_DATABASE_URL=shared_url, WALL_DOWN="1")
    assert "the wall 'namespaces' is missing" in said
    assert "apt-get install bubblewrap" in said
