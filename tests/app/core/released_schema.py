"""The tables that the last release reads and writes: `python -m tests.app.core.released_schema` writes those of now.

Run it when a release is cut, and set `RELEASED` in test_migrate.py to its newest revision.
"""

import asyncio
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import URL

from app.core.database import Database
from app.core.migrate import migrate

FILE = Path(__file__).with_suffix(".json")
# For each table and column: its type, and whether a row needs a value for it.
Tables: TypeAlias = dict[str, dict[str, tuple[str, bool]]]


def tables_in(file: Path) -> Tables:
    with sqlite3.connect(file) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: _columns(connection, name) for (name,) in rows if name != "alembic_version"}


def unique_in(file: Path) -> dict[str, list[list[str]]]:
    """For each table, the columns that must be unique together."""
    with sqlite3.connect(file) as connection:
        return {
            table: sorted(
                [column for (_, _, column) in connection.execute(f"PRAGMA index_info({index})")]
                for _, index, is_unique, *_ in connection.execute(f"PRAGMA index_list({table})")
                if is_unique
            )
            for table in tables_in(file)
        }


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, tuple[str, bool]]:
    rows = connection.execute(f"PRAGMA table_info({table})")
    return {name: (kind, bool(must) and default is None) for _, name, kind, must, default, _ in rows}


def main() -> None:
    async def create(url: URL) -> None:
        database = Database(url)
        await migrate(database)
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "newest.sqlite3")
        asyncio.run(create(URL.create("sqlite+aiosqlite", database=str(file))))
        found = {"tables": tables_in(file), "unique": unique_in(file)}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
