"""The last release works on the schema of this one: the processes of a service are replaced one by one."""

import json
from pathlib import Path

from tests.app.core.released_schema import FILE, tables_in, unique_in

RELEASED = json.loads(FILE.read_text(encoding="utf-8"))
WHY = "the last release would not work on it. Stop using it in this release, and change it in the next"


def test_what_the_last_release_reads_and_writes_is_there(migrated_database: Path):
    now = tables_in(migrated_database)
    for table, columns in RELEASED["tables"].items():
        for column, (kind, is_needed) in columns.items():
            found = now.get(table, {}).get(column)
            assert found is not None, f"{table}.{column} is gone: {WHY}"
            assert found[0] == kind, f"{table}.{column} has another type: {WHY}"
            assert is_needed or not found[1], f"{table}.{column} must not be empty now: {WHY}"


def test_its_rows_can_be_inserted(migrated_database: Path):
    for table, columns in tables_in(migrated_database).items():
        known = RELEASED["tables"].get(table)
        needed = [name for name, (_, is_needed) in columns.items() if is_needed and known and name not in known]
        assert needed == [], f"{table}: {needed} need a default, because the last release does not know them"
    for table, unique in unique_in(migrated_database).items():
        new = [each for each in unique if table in RELEASED["tables"] and each not in RELEASED["unique"][table]]
        assert new == [], f"{table}: {new} are unique now: {WHY}"


def test_its_backup_can_write_each_row_as_json(migrated_database: Path):
    """It leaves out the tables whose names begin like these."""
    for table, columns in tables_in(migrated_database).items():
        if not table.startswith(("procrastinate_", "shared_answers")):
            assert "BLOB" not in {kind for kind, _ in columns.values()}, f"{table}: {WHY}"
