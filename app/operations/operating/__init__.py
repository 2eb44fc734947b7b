"""Health checks, metrics, logs, and the page about the state of the service."""
