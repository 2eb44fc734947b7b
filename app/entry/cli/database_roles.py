"""`meshgrade database-roles`: prints the statements that give the processes of a service roles of their own."""

import sys

HELP = (
    "Print the SQL that creates a role for servers and one for workers, and grants each what it needs. It changes "
    "nothing: run it as the owner of the tables."
)


def database_roles() -> None:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from app.core.database_roles import LONGEST_DATABASE, creation, grants, server_role, worker_role
    from app.core.settings import load_settings
    from app.core.start_errors import SettingInvalid

    try:
        url = make_url(load_settings(host=None, port=None, data=None).database)
    except ArgumentError:
        raise SettingInvalid("database_url", "it is not a database URL") from None
    if url.get_backend_name() not in ("postgresql", "postgres") or not url.database:
        raise SettingInvalid(
            "database_url", "it must name a PostgreSQL and a database in it, because SQLite has no roles"
        )
    name = url.database
    if len(name.encode()) > LONGEST_DATABASE:
        raise SettingInvalid(
            "database_url",
            f"the name of its database has more than {LONGEST_DATABASE} bytes, and the names of its roles are longer",
        )
    lines = [
        f"-- Run this in the database {name!r}, as the owner of its tables, once ./meshgrade migrate has created them:",
        "--   ./meshgrade database-roles | psql --set ON_ERROR_STOP=1 postgresql://OWNER@HOST/DATABASE",
        "-- Then give both roles passwords, each with \\password in psql:",
        f"--   {server_role(name)!r} is for servers, {worker_role(name)!r} for workers.",
        "BEGIN;",
        *(f"{each};" for each in (*creation(name), *grants(name))),
        "COMMIT;",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
