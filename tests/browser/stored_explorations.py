"""A result of the Explorer on TPUs, in the database of the running service, which has no compiler for TPUs."""

import json
import sqlite3

from grader.explorer.description import explored
from grader.inputs.explored_function import read_function
from tests.app.learning.explorer.conftest import Measuring


def store_exploration_on_tpus(connection: sqlite3.Connection, owner: str, exploration_id: str) -> None:
    function = read_function("f", "x=8", 'a: float32[8] P("x")')
    result = explored(Measuring().inspect_function(function, "gather = 1", None, chip="v5e"))
    row = {
        "id": exploration_id,
        "user_id": owner,
        "digest": "0" * 64,
        "function": function.model_dump_json(),
        "source": "gather = 1\n" * 40,
        "chip": "v5e",
        "result": json.dumps(result.model_dump(mode="json")),
        "status": "finished",
        "tries": 1,
        "created_at": "2026-01-05 09:30:00.000000",
        "finished_at": "2026-01-05 09:30:02.000000",
    }
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO explorations ({names}) VALUES ({places})", tuple(row.values()))
