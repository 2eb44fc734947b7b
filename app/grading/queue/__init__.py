"""The line of work for the judge: leases, fair share, retries and events, on SQLite and PostgreSQL."""
