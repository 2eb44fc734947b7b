"""The databases and the service of the tests of app/."""

from tests.app.conftest import anyio_backend, empty_database, package, postgres_url, service, start_service

__all__ = ["anyio_backend", "empty_database", "package", "postgres_url", "service", "start_service"]
