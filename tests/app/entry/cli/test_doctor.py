"""`doctor` tests the walls that the service would grade behind, and grades; its exit status is the result."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import asdict, fields
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import URL, insert, select
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from app.core.clock import now
from app.core.database import Database
from app.core.migrate import newest_revision
from app.core.settings import Settings, load_settings
from app.entry.cli.__main__ import app
from app.entry.cli.doctor import try_grading
from app.entry.cli.doctor_report import DoctorReport, Standing, Tasks, Trouble, WorkerReport
from app.entry.cli.service_report import DatabaseReport
from app.grading.queue.models import DeploymentRow, WorkerRow
from app.grading.queue.standstill import RESTART
from app.grading.queue.workers import LIVE_S, WorkerSetback, WorkerWall, try_to_write
from grader.confined import kernel
from grader.judging.self_test import Trial
from grader.sandbox.doctor import WallReport
from grader.sandbox.remedies import ALLOW_USER_NAMESPACES


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The data folder of the checkout may have a database, which these tests neither read nor create."""
    monkeypatch.setenv("MESHGRADE_DATA", str(tmp_path))


@pytest.mark.parametrize("isolation", ["bubblewrap", "container"])
@pytest.mark.parametrize(("up", "graded"), [(True, True), (True, False), (False, True)])
def test_walls_and_grading_of_this_isolation_are_tried(monkeypatch, isolation, up, graded):
    proved, tried = [], []

    def probe(isolation: str) -> tuple[WallReport, ...]:
        proved.append(isolation)
        return (WallReport("landlock", up, "held" if up else "the kernel has none", "" if up else "use a newer one"),)

    def grade(settings: Settings) -> Trial:
        tried.append(settings.isolation)
        return Trial(graded, "a right program was failed: why", 1.5)

    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", probe)
    monkeypatch.setattr("app.entry.cli.doctor.try_grading", grade)
    monkeypatch.setenv("MESHGRADE_ISOLATION", isolation)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert proved == [isolation]
    assert tried == ([isolation] if up else []), "nothing may be executed behind walls that are down"
    assert done.exit_code == (0 if up and graded else 3)
    told = json.loads(done.output)
    assert told["ready"] is (up and graded)
    assert (told["trial"] or {}).get("graded") == (graded if up else None)
    text = CliRunner().invoke(app, ["doctor"]).output
    assert ("a right program was failed: why" in text) is up


@pytest.mark.parametrize(("limit", "low"), [(None, False), (200_000, False), (2000, True)])
def test_a_container_that_permits_too_few_threads_is_reported(monkeypatch, limit, low):
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.entry.cli.doctor.try_grading", lambda settings: Trial(True, "", 0.0))
    monkeypatch.setattr("grader.sandbox.own_limits.most_tasks", lambda: limit)
    monkeypatch.setenv("MESHGRADE_GRADING_SLOTS", "4")
    done = CliRunner().invoke(app, ["doctor"])
    assert ("may have 2,000 processes and threads, and its 4 grading slots may need" in done.output) is low
    assert done.exit_code == 0


def test_the_walls_can_be_proved_alone(monkeypatch):
    report = WallReport("landlock", True, "held", "")
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [report])
    monkeypatch.setattr("app.entry.cli.doctor.try_grading", lambda settings: pytest.fail("it was graded"))
    done = CliRunner().invoke(app, ["doctor", "--walls", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["trial"] is None


def test_what_the_workers_of_the_service_met_is_told(monkeypatch, tmp_path, migrated_database):
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.entry.cli.doctor.try_grading", lambda settings: Trial(True, "", 0.0))
    assert json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)["workers"] is None
    assert not list(tmp_path.iterdir())
    shutil.copy(migrated_database, tmp_path)
    assert json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)["workers"] == []
    assert re.search(r"^FAILED +service +No worker is connected$", CliRunner().invoke(app, ["doctor"]).output, re.M)
    setback = WorkerSetback("reference", "fsdp_step", 2, "it died")
    wall = WorkerWall("landlock", False, "the kernel has none", "use a newer one")
    asyncio.run(_workers(tmp_path / migrated_database.name, setback, wall))
    [here, gone] = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)["workers"]
    assert (here["name"], here["live"], here["setbacks"]) == ("grader-2", True, [asdict(setback)])
    assert (gone["name"], gone["live"]) == ("grader-3", False)
    text = CliRunner().invoke(app, ["doctor"]).output
    for words in (
        "fsdp_step: failed 2 times in a row on grader-2: it died",
        "the kernel has none on grader-2",
        "grader-3: last seen ",
    ):
        assert words in text


@pytest.fixture
def could_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has nothing against it."""
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.entry.cli.doctor.try_grading", lambda settings: Trial(True, "", 0.0))
    # Otherwise the warning about it would depend on the machine.
    monkeypatch.setattr("grader.sandbox.own_limits.most_tasks", lambda: None)


def last_line(text: str) -> str:
    return text.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (None, "No worker is connected."),
        ({"seen_s": 300}, "No worker is connected: grader-1 was last seen 5 min ago."),
        ({"seen_s": LIVE_S + 1}, "No worker is connected: grader-1 was last seen 21 s ago."),
        ({"walls": [asdict(WorkerWall("landlock", False, "none", "a newer kernel"))]}, "lacks the wall landlock."),
        ({"slots": 0}, "No worker is connected."),
    ],
)
def test_a_service_that_grades_nothing_is_told_from_a_machine_that_could(
    could_grade, tmp_path, migrated_database, columns, why
):
    shutil.copy(migrated_database, tmp_path)
    if columns is not None:
        asyncio.run(_one_worker(tmp_path / migrated_database.name, **columns))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert re.search(r"^there +database +\S+meshgrade.sqlite3: reached, writable$", done.output, re.M)
    said = last_line(done.output)
    assert said.startswith("This machine could grade; the service grades nothing. ")
    assert said.endswith(why)
    told = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)
    assert (told["ready"], told["service"]["grades"], told["service"]["workers"]) == (False, False, 0)
    [trouble] = [each for each in told["troubles"] if each["fatal"]]
    assert trouble["remedy"] == told["service"]["remedy"] != ""


def test_a_service_that_grades_is_counted_in_the_last_line(could_grade, tmp_path, migrated_database):
    shutil.copy(migrated_database, tmp_path)
    asyncio.run(_one_worker(tmp_path / migrated_database.name))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert last_line(done.output) == "Ready to grade. The service grades: 1 worker is connected."


def test_a_service_is_named_although_this_machine_lacks_a_wall(monkeypatch, tmp_path, migrated_database):
    down = WallReport("landlock", False, "the kernel has none", "use a newer one")
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [down])
    shutil.copy(migrated_database, tmp_path)
    asyncio.run(_one_worker(tmp_path / migrated_database.name))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert last_line(done.output) == (
        "Not ready: nothing is graded until every wall is up. The service grades: 1 worker is connected."
    )


@pytest.mark.xdist_group("postgresql")
def test_an_outdated_worker_is_told_from_none(could_grade, monkeypatch, shared_url, workers_url):
    # As on the machine of a worker.
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", workers_url)
    asyncio.run(_one_worker(shared_url, code="ffff jax 0.0.0", of_server="0123 jax 0.0.0"))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert last_line(done.output) == (
        "This machine could grade; the service grades nothing. "
        "The worker grader-1 is outdated and takes nothing: its grader (ffff jax 0.0.0) is not the server's."
    )
    assert RESTART in done.output
    [worker] = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)["workers"]
    assert (worker["outdated"], worker["can_grade"]) == (True, False)


def test_a_database_that_is_stopped_takes_one_line(could_grade, monkeypatch):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        # Bound and not listening, so it refuses connections, as a stopped PostgreSQL does.
        monkeypatch.setenv("MESHGRADE_DATABASE_URL", f"postgresql://ada:secret@127.0.0.1:{port}/meshgrade")
        done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    [line] = [each for each in done.output.splitlines() if re.match("FAILED +database", each)]
    assert "Connection refused" in line
    assert last_line(done.output).startswith("This machine could grade; the service grades nothing. Its database: ")
    assert "Traceback" not in done.output
    assert "secret" not in done.output


def test_a_database_that_says_nothing_is_not_waited_for(could_grade, monkeypatch):
    monkeypatch.setattr("app.entry.cli.service_report._WAIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://ada@127.0.0.1:{silent.getsockname()[1]}/meshgrade"
        monkeypatch.setenv("MESHGRADE_DATABASE_URL", url)
        done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert "it does not respond within 0.2 s" in last_line(done.output)


def test_a_database_that_cannot_be_written_is_named(could_grade, monkeypatch, tmp_path, migrated_database):
    async def full(database):
        raise OperationalError("INSERT", {}, Exception("database or disk is full"))

    monkeypatch.setattr("app.grading.queue.workers.try_to_write", full)
    shutil.copy(migrated_database, tmp_path)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert last_line(done.output).endswith("Its database: reached, but it cannot be written: the disk is full.")


def test_a_database_of_an_earlier_version_is_named_with_what_to_type(
    could_grade, tmp_path, migrated_database, add_later_revisions
):
    shutil.copy(migrated_database, tmp_path)
    newest = newest_revision()
    add_later_revisions()
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3
    assert f"is of an earlier version of Meshgrade (revision {newest}" in done.output
    assert "./meshgrade migrate" in done.output


@pytest.mark.anyio
async def test_the_try_to_write_leaves_nothing_behind(each_database):
    await try_to_write(each_database)
    async with each_database.reading() as session:
        assert list(await session.scalars(select(WorkerRow.id))) == []


async def _one_worker(where: Path | str, *, seen_s: float = 0.0, of_server: str = "", **columns: object) -> None:
    """One process in the database. A frozen one still counts itself as able to grade."""
    file = URL.create("sqlite+aiosqlite", database=str(where))
    database = Database(where if isinstance(where, str) else file)
    row = {"version": "0.1.0", "code": "c", "slots": 2, "can_grade": True, "clock_offset_s": 0.0, "started_at": now()}
    lists: dict[str, object] = {"walls": [], "setbacks": [], "warnings": []}
    values = {"id": "1", "name": "grader-1", "seen_at": now() - timedelta(seconds=seen_s)}
    async with database.writing() as session:
        await session.execute(insert(WorkerRow).values({**row, **lists, **values, **columns}))
        if of_server:
            await session.execute(insert(DeploymentRow).values(id=1, secret="0" * 64, code=of_server))
    await database.close()


async def _workers(file: Path, setback: WorkerSetback, wall: WorkerWall) -> None:
    database = Database(URL.create("sqlite+aiosqlite", database=str(file)))
    row = {"version": "0.1.0", "code": "c", "slots": 2, "can_grade": True, "clock_offset_s": 0.0}
    row |= {"started_at": now() - timedelta(hours=1)}
    met = {"setbacks": [asdict(setback)], "walls": [asdict(wall)], "warnings": []}
    earlier, nothing = now() - timedelta(minutes=5), {"walls": [], "setbacks": [], "warnings": []}
    async with database.writing() as session:
        await session.execute(insert(WorkerRow).values(id="2", name="grader-2", seen_at=now(), **row, **met))
        await session.execute(insert(WorkerRow).values(id="3", name="grader-3", seen_at=earlier, **row, **nothing))
    await database.close()


def test_every_key_of_the_report_is_documented_and_none_is_left_over():
    text = (Path(__file__).resolve().parents[4] / "docs" / "operating.md").read_text()
    section = text.split("\n## Doctor\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    assert list(rows) == [each.name for each in fields(DoctorReport)]
    for key, kind in (
        ("troubles", Trouble),
        ("walls", WallReport),
        ("trial", Trial),
        ("database", DatabaseReport),
        ("service", Standing),
        ("workers", WorkerReport),
        ("tasks", Tasks),
    ):
        assert {each.name for each in fields(kind)} <= set(re.findall(r"`(\w+)`", rows[key])), key


def test_what_is_wrong_is_listed_with_its_remedy(monkeypatch):
    down = WallReport("landlock", False, "the kernel has none", "use a newer one")
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [down])
    monkeypatch.setattr("grader.sandbox.own_limits.most_tasks", lambda: 100)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == 3
    wall, tasks, *_ = json.loads(done.output)["troubles"]
    assert wall == {
        "fatal": True,
        "what": "the wall landlock is missing: the kernel has none",
        "remedy": "use a newer one",
    }
    assert tasks["fatal"] is False
    assert "MESHGRADE_GRADING_SLOTS" in tasks["remedy"]


@pytest.mark.parametrize(
    ("limits", "found", "remedy"),
    [
        ("ulimit -n 64", "at most 64 open files, and a runner needs 256", "`ulimit -n 256`"),
        ("ulimit -u 40", "at most 40 processes and threads, and a runner needs 512", "`LimitNPROC=512`"),
        ("ulimit -f 100", "at most 102,400 bytes in a file", "`--ulimit fsize=67108864`"),
        ("ulimit -v 20000000", "bytes of address space", "`ulimit -v 25165824`"),
    ],
)
def test_a_limit_that_is_too_low_is_named_once_with_how_to_raise_it(limits, found, remedy):
    command = [sys.executable, "-m", "app.entry.cli", "doctor", "--walls"]
    done = subprocess.run(
        ["bash", "-c", f'{limits}; exec "$@"', "bash", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert found in done.stdout
    assert done.stdout.count("to fix it: raise the hard limit") == 1
    assert remedy in done.stdout
    assert "not tested, because the wall rlimits is missing" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_machine_without_git_is_ready_and_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.authoring.repositories.git.usable_git", lambda: None)
    done = CliRunner().invoke(app, ["doctor", "--walls"])
    assert done.exit_code == 0
    assert "git 2.37 or later is needed to sync repositories; folders can be synced without it" in done.output
    assert "apt-get install git" in done.output


def test_the_trial_is_accepted():
    trial = try_grading(load_settings())
    assert trial.graded, trial.found


@pytest.mark.parametrize("most", [0, 1])
def test_nothing_is_graded_without_root_and_user_namespaces(tmp_path: Path, most: int) -> None:
    """The kernel permits this user `most`, and bubblewrap needs more."""

    def permit() -> None:
        user, group = os.getuid(), os.getgid()
        kernel.unshare(kernel.CLONE_NEWUSER)
        for name, value in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
            Path("/proc/self", name).write_text(value)
        Path("/proc/sys/user/max_user_namespaces").write_text(str(most))

    done = subprocess.run(
        [sys.executable, "-m", "app.entry.cli", "doctor", "--json"],
        env={**os.environ, "MESHGRADE_DATA": str(tmp_path)},
        preexec_fn=permit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["trial"] is None
    namespaces, *others = found["walls"]
    assert (namespaces["name"], namespaces["remedy"]) == ("namespaces", ALLOW_USER_NAMESPACES)
    assert not any(wall["up"] for wall in found["walls"])
    assert {wall["found"] for wall in others} == {"not tested, because the wall namespaces is missing"}
