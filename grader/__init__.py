"""The judge, a library: problem packages, the sandbox, checks, verdicts. It knows neither HTTP nor a database."""
