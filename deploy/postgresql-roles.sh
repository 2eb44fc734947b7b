#!/bin/sh
# Creates the roles of servers and workers in PostgreSQL's own container, with their passwords. What they may read and write
# is granted by `meshgrade migrate`. It runs when the volume is new, and may run again, for example to change a password.
set -eu
psql --set ON_ERROR_STOP=1 --set server="$SERVER_PASSWORD" --set worker="$WORKER_PASSWORD" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', current_database() || each)
FROM unnest(ARRAY['_server', '_worker']) each
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_database() || each) \gexec
SELECT format('ALTER ROLE %I PASSWORD %L', current_database() || '_server', :'server') \gexec
SELECT format('ALTER ROLE %I PASSWORD %L', current_database() || '_worker', :'worker') \gexec
SQL
