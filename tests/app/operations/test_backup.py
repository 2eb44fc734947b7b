"""A restored backup equals the original, from and into each database, and no restore is partial."""

import asyncio
import io
import json
import re
import shutil
import stat
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import URL, create_engine, select, text

from app.accounts.models import APITokenRow, IdentityRow, InvitationRow, SessionRow, UserRow
from app.accounts.service import Accounts
from app.core.data_folder import DataFolder
from app.core.database import Base, Database
from app.core.limits import LimitCountRow
from app.core.migrate import migrate, migration_config, newest_revision
from app.core.start_errors import BackupUnusable, DatabaseUnusable, DataFolderUnusable
from app.entry.cli import __main__ as command_line
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.models import AttemptRow
from app.operations.backup import Backup, write_backup
from tests.app.conftest import empty

pytestmark = pytest.mark.anyio
SECRET = bytes(range(32))
NOON = datetime(2026, 1, 5, 12, 0, 0, 123456, tzinfo=UTC)
OF_A_PERSON = (UserRow, SessionRow, APITokenRow, InvitationRow, IdentityRow, LimitCountRow)
ATTEMPTS = "/api/v1/problems/add_one/attempts"


def sqlite(file: Path) -> Database:
    return Database(URL.create("sqlite+aiosqlite", database=str(file)))


async def fill(database: Database) -> None:
    await migrate(database)
    async with database.writing() as session:
        session.add(UserRow(id="u", name="Ünï", role="owner", created_at=NOON))
        await session.flush()
        owned = {"id": "1" * 32, "user_id": "u", "created_at": NOON}
        session.add(SessionRow(token_hash="s", user_agent="\N{SNOWMAN}", expires_at=NOON, **owned))
        session.add(APITokenRow(token_hash="t", name="n", scopes="read", preset=False, **owned))
        session.add(InvitationRow(token_hash="i", role="student", note="", expires_at=NOON, **owned))
        session.add(IdentityRow(issuer="https://id.example", subject="1", name="n", **owned))
        session.add(LimitCountRow(kind="k", key_hash="h", tries=1, ends_at=NOON))
        for number in range(1203):  # more than are read or written at once
            verdict = {"stdout": "a\0b\n", "checks": [{"points": 1.5}], "score": None} if number % 2 else None
            session.add(
                AttemptRow(
                    id=f"{number:05}",
                    user_id="u",
                    problem="p",
                    version="v",
                    kind="attempt",
                    source="x = '\\n\N{SNOWMAN}'\n",
                    status="finished" if verdict else "queued",
                    priority=number,
                    tries=0,
                    verdict=verdict,
                    verdict_status=("accepted" if number % 4 else "rejected") if verdict else None,
                    efficiency=0.1 if verdict else None,
                    created_at=NOON,
                    finished_at=NOON if verdict else None,
                )
            )


async def rows_of(database: Database) -> list[dict]:
    async with database.reading() as session:
        found = await session.scalars(select(AttemptRow).order_by(AttemptRow.id))
        return [{column.key: getattr(row, column.key) for column in AttemptRow.__table__.columns} for row in found]


async def test_each_row_comes_back_from_any_database_in_any_other(empty_database: Database, tmp_path: Path):
    """SQLite to SQLite; or PostgreSQL to SQLite and back, which is how a service moves from one to the other."""
    await fill(empty_database)
    before = await rows_of(empty_database)
    rows = await write_backup(empty_database, SECRET, tmp_path / "one.tar.gz")
    computed_again = {"shared_answers", "searched_documents", "searched_sections"}
    assert (rows.pop("attempts"), set(rows)) == (1203, set(Base.metadata.tables) - {"attempts", *computed_again})
    assert [rows[kind.__tablename__] for kind in OF_A_PERSON] == [1] * len(OF_A_PERSON)
    rows["attempts"] = 1203

    other = sqlite(tmp_path / "other.sqlite3")
    with Backup(tmp_path / "one.tar.gz") as backup:
        assert backup.secret == SECRET
        assert await backup.restore(other) == rows
    assert await rows_of(other) == before

    await write_backup(other, SECRET, tmp_path / "two.tar.gz")
    await other.close()
    if empty_database.shared:
        await empty(empty_database)
    else:
        async with empty_database.engine.execution_options(writer=True).begin() as connection:
            await connection.execute(text("DROP TABLE shared_answers_search"))
            await connection.run_sync(Base.metadata.drop_all)
            await connection.execute(text("DROP TABLE alembic_version"))
    with Backup(tmp_path / "two.tar.gz") as backup:
        await backup.restore(empty_database)
    assert await rows_of(empty_database) == before


async def test_what_is_written_meanwhile_is_no_part_of_it(empty_database: Database, tmp_path: Path, monkeypatch):
    """One state of the data: no attempt without its user, and no row that came while another table was read."""
    monkeypatch.setattr("app.operations.backup._ROWS_PER_MESSAGE", 1)
    await fill(empty_database)
    url = empty_database.engine.url
    names = AttemptRow.__table__.columns.keys()
    copied = ", ".join("'late'" if name == "id" else name for name in names)
    told: list[str] = []

    def write_once(step: str) -> None:
        if not told:
            engine = create_engine(url if empty_database.shared else url.set(drivername="sqlite"))
            with engine.begin() as connection:
                late = f"INSERT INTO attempts ({', '.join(names)}) SELECT {copied} FROM attempts WHERE id = '00001'"
                connection.execute(text(late))
            engine.dispose()
        told.append(step)

    rows = await write_backup(empty_database, SECRET, tmp_path / "one.tar.gz", write_once)
    assert not told[0].startswith("attempts")
    assert rows["attempts"] == 1203
    assert len(await rows_of(empty_database)) == 1204


async def _pages(service, paths: list[str]) -> list[str]:
    """Read the pages once the start has finished, without the tokens of their forms, which differ every time."""
    while service.services[LocalJudge].preparation and service.services[LocalJudge].preparation().is_in_progress:
        await asyncio.sleep(0.01)
    texts = [(await service.http.get(path)).text for path in paths]
    return [re.sub(r'(name="form_token" value=)"[^"]+"', r"\1", text) for text in texts]


async def test_a_service_on_the_restored_folder_shows_the_same_pages(start_service, package, tmp_path: Path):
    pages = ["/problems", "/problems/add_one", "/attempts", "/problems/add_one/ranking"]
    async with start_service() as service:
        for source in (package.reference, "wrong"):
            await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": source}, headers=service.bearer)
        accounts = service.services[Accounts]
        token = await accounts.sign_in(await accounts.new_sign_in_link(await accounts.ensure_owner()))
        service.http.cookies.set("meshgrade_session", token)
        attempts = (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()
        pages += [f"/attempts/{each['id']}" for each in attempts["attempts"]]
        before = await _pages(service, pages)
        # Taken while the service runs.
        secret = (tmp_path / "data" / "secret").read_bytes()
        database = sqlite(tmp_path / "data" / "meshgrade.sqlite3")
        await write_backup(database, secret, tmp_path / "backup.tar.gz")
        await database.close()

    with Backup(tmp_path / "backup.tar.gz") as backup, DataFolder(tmp_path / "new", secret=backup.secret):
        restored = sqlite(tmp_path / "new" / "meshgrade.sqlite3")
        await backup.restore(restored)
        await restored.close()
    async with start_service(data=tmp_path / "new") as service:
        service.http.cookies.set("meshgrade_session", token)
        assert await _pages(service, pages) == before
        assert (await service.http.get("/api/v1/attempts", headers=service.bearer)).json() == attempts
    assert len(attempts["attempts"]) == 2
    assert (tmp_path / "new" / "secret").read_bytes() == secret


async def test_a_backup_of_an_earlier_revision_is_migrated(
    empty_database: Database, tmp_path: Path, add_later_revisions
):
    await fill(empty_database)
    await write_backup(empty_database, SECRET, tmp_path / "old.tar.gz")
    add_later_revisions()
    new = sqlite(tmp_path / "new.sqlite3")
    with Backup(tmp_path / "old.tar.gz") as backup:
        assert backup.revision != newest_revision()
        await backup.restore(new)
    assert len(await rows_of(new)) == 1203
    async with new.engine.connect() as connection:
        assert await connection.scalar(text("SELECT version_num FROM alembic_version")) == newest_revision()
    await new.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled database and its backup, which take a second to make."""
    folder = tmp_path_factory.mktemp("original")
    asyncio.run(_make(folder))
    return folder


async def _make(folder: Path) -> None:
    database = sqlite(folder / "made.sqlite3")
    await fill(database)
    await write_backup(database, SECRET, folder / "made.tar.gz")
    await database.close()


@pytest.fixture
def made(original: Path, tmp_path: Path) -> Path:
    """The test's own copy of the backup, beside that of the database."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path / "made.tar.gz"


async def test_the_file_is_for_its_owner_and_replaces_none(made: Path, tmp_path: Path):
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    before = made.read_bytes()
    database = sqlite(tmp_path / "made.sqlite3")
    with pytest.raises(BackupUnusable, match="already exists"):
        await write_backup(database, SECRET, made)
    with pytest.raises(BackupUnusable, match="cannot be written: No such file"):
        await write_backup(database, SECRET, tmp_path / "nowhere" / "b")
    await database.close()
    assert made.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir() if "backup" in each.name) == []


async def test_nothing_is_backed_up_of_a_database_that_is_none_of_ours(tmp_path: Path):
    database = sqlite(tmp_path / "empty.sqlite3")
    with pytest.raises(BackupUnusable, match="contains no data of Meshgrade"):
        await write_backup(database, SECRET, tmp_path / "b")
    await database.close()
    assert not (tmp_path / "b").exists()


def changed(made: Path, name: str, data: bytes | None) -> Path:
    """The backup with one member changed, or without it."""
    path = made.with_name("changed.tar.gz")
    with tarfile.open(made) as old, tarfile.open(path, "w:gz") as new:
        for entry in old:
            held = old.extractfile(entry)
            assert held is not None
            content = held.read()
            if entry.name == name:
                if data is None:
                    continue
                content, entry.size = data, len(data)
            new.addfile(entry, io.BytesIO(content))
    return path


_USER = {"id": "u", "name": "u", "role": "owner", "created_at": "2026-01-05T12:00:00+00:00"}
USER = json.dumps(dict.fromkeys(UserRow.__table__.columns.keys()) | _USER) + "\n"
HEAD = ScriptDirectory.from_config(migration_config()).get_current_head()
MANIFEST = {"format": 1, "revision": HEAD, "at": "", "tables": {"attempts": 1203}}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("meshgrade-backup.json", None, "damaged: KeyError"),
        ("meshgrade-backup.json", b"{", "damaged: JSONDecodeError"),
        ("meshgrade-backup.json", json.dumps(MANIFEST | {"revision": "9999"}).encode(), "newer version"),
        ("meshgrade-backup.json", json.dumps(MANIFEST | {"revision": "0031"}).encode(), "before the first release"),
        ("meshgrade-backup.json", json.dumps(MANIFEST | {"format": 2}).encode(), "newer version"),
        ("meshgrade-backup.json", json.dumps(MANIFEST).encode(), "damaged: KeyError"),
        ("meshgrade-backup.json", b"[]", "damaged: TypeError"),
        ("meshgrade-backup.json", json.dumps(MANIFEST | {"tables": []}).encode(), "damaged: AttributeError"),
        ("meshgrade-backup.json", b" " * 2_000_000 + b"{}", "damaged: JSONDecodeError"),
        ("secret", None, "damaged: KeyError"),
        ("secret", b"short", "deployment secret has the wrong length"),
        ("attempts.jsonl", None, "damaged: KeyError"),
        ("attempts.jsonl", b"", "attempts has 0 rows"),
        ("attempts.jsonl", b'{"id": "a"}\n', "columns of a row of attempts differ"),
        ("attempts.jsonl", b"[1]\n", "damaged"),
        ("users.jsonl", b"not JSON\n", "damaged: JSONDecodeError"),
        ("users.jsonl", b"", "users has 0 rows"),
        ("users.jsonl", USER.encode() * 2, "damaged: IntegrityError"),
        ("users.jsonl", USER.replace('"u"', "null").encode(), "damaged: IntegrityError"),
    ],
)
async def test_a_damaged_backup_leaves_nothing(made: Path, tmp_path: Path, name, data, said):
    database = sqlite(tmp_path / "target.sqlite3")
    with pytest.raises(BackupUnusable, match=said), Backup(changed(made, name, data)) as backup:
        await backup.restore(database)
    async with database.engine.connect() as connection:
        assert (await connection.execute(text("SELECT name FROM sqlite_master"))).all() == []
    await database.close()


@pytest.mark.parametrize("cut", [0, 10, 200, 0.5, 0.98])
async def test_a_backup_that_is_cut_off_is_refused(made: Path, tmp_path: Path, cut: float):
    data = made.read_bytes()
    made.write_bytes(data[: int(cut * len(data)) if 0 < cut < 1 else int(cut)])
    database = sqlite(tmp_path / "target.sqlite3")
    with pytest.raises(BackupUnusable), Backup(made) as backup:
        await backup.restore(database)
    await database.close()


async def test_what_is_no_backup_is_named(tmp_path: Path):
    with pytest.raises(BackupUnusable, match="No such file"):
        Backup(tmp_path / "none")
    (tmp_path / "text").write_text("hello")
    database = sqlite(tmp_path / "text")
    with pytest.raises(DatabaseUnusable, match="is not a database"):
        await write_backup(database, SECRET, tmp_path / "b")
    await database.close()
    with pytest.raises(BackupUnusable, match="is not a backup"):
        Backup(tmp_path / "text")


@pytest.mark.xdist_group("postgresql")
async def test_a_backup_of_a_shared_database_holds_its_secret_and_not_the_folders(postgres_url: str, tmp_path: Path):
    from app.core.settings import Settings
    from app.entry.cli.backup import secret_of
    from app.grading.queue.deployment_secret import share_secret

    settings = Settings(data=tmp_path / "data", database_url=postgres_url)
    database = Database(postgres_url)
    with DataFolder(settings.data) as folder:
        assert await secret_of(database, settings) == folder.secret
    await migrate(database)
    await share_secret(database, SECRET)
    assert await secret_of(database, settings) == SECRET
    await database.close()


async def test_nothing_is_restored_over_anything(made: Path, tmp_path: Path):
    database = sqlite(tmp_path / "made.sqlite3")
    with Backup(made) as backup, pytest.raises(DatabaseUnusable, match="is not empty"):
        await backup.restore(database)
    assert len(await rows_of(database)) == 1203
    await database.close()
    with DataFolder(tmp_path / "used"):
        pass
    with pytest.raises(DataFolderUnusable, match="already has another deployment secret"):
        DataFolder(tmp_path / "used", secret=SECRET)


def test_the_commands_say_what_they_did(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setenv("MESHGRADE_DATABASE_URL", "")

    def meshgrade(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["meshgrade", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.err + printed.out

    data, new, file = str(tmp_path / "data"), str(tmp_path / "new"), str(tmp_path / "b.tar.gz")
    code, said = meshgrade("migrate", "--data", data)
    assert code == 0
    assert said.startswith(f"{data}/meshgrade.sqlite3 is up to date, at revision {newest_revision()} (")
    code, said = meshgrade("backup", file, "--data", data)
    assert code == 0
    assert "attempts: 0" in said
    assert "deployment secret" in said
    code, said = meshgrade("restore", file, "--data", new)
    assert code == 0
    assert said.endswith(f"Start it with: ./meshgrade serve --data {new}\n")
    code, said = meshgrade("restore", file, "--data", new)
    assert code == 2
    assert "is not empty" in said
    damaged = changed(Path(file), "attempts.jsonl", b"[]\n")
    code, said = meshgrade("restore", str(damaged), "--data", str(tmp_path / "newer"))
    assert code == 2
    assert "is damaged" in said
    assert not (tmp_path / "newer").exists()
    code, said = meshgrade("backup", str(tmp_path / "c"), "--data", str(tmp_path / "nowhere"))
    assert code == 2
    assert "secret cannot be read" in said
