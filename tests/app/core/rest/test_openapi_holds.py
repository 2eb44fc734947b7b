"""Schemathesis reads /openapi.json and sends what it permits, and what it forbids: every answer must be as described.

All of its checks, and all of its phases: among them sequences of requests along the links between operations. Half of
its time went to 25 random requests for each operation, so only `--all` sends that many. The other phases are always
whole. Only a run with changed routes, and `--all`, do it.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.entry.cli.test_serve import environment, serving
from tests.selection import everything

CHECKOUT = Path(__file__).resolve().parents[4]
# DELETE cancels an attempt and does not remove it: what was submitted is never lost, so it can still be read.
# No judge runs here that would draw questions, so there are none: 503, as described.
# A random text is hardly ever Python, so it cannot be formatted. Nor is it a category that a course has.
RANDOM_REQUESTS = 25 if everything() else 3
CONFIG = f"""
[phases.fuzzing.generation]
max-examples = {RANDOM_REQUESTS}

[phases.stateful.generation]
max-examples = 25

[[operations]]
include-path-regex = "^/api/v1/attempts/"
[operations.checks]
use_after_free.enabled = false

[[operations]]
include-path-regex = "/question$"
[operations.checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]

[[operations]]
include-path-regex = "/assignments"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "4xx"]

[[operations]]
include-path-regex = "/format$"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "4xx"]
"""
TOKEN = "preset-token-of-the-owner"
# The routes, and what they take and return.
_ROUTES = (
    "app/core/rest/",
    "docs/openapi.json",
    "tests/app/core/rest/",
    *(
        str(file.relative_to(CHECKOUT))
        for name in ("api", "schemas")
        for file in (CHECKOUT / "app").rglob(f"{name}.py")
    ),
)


@pytest.mark.rotation(*_ROUTES)
@pytest.mark.timeout(900)
def test_the_service_answers_as_its_openapi_document_says(tmp_path: Path) -> None:
    roomy = {"MESHGRADE_REQUESTS_PER_MINUTE": "1000000", "MESHGRADE_MAX_WAITING_PER_USER": "100000"}
    with serving(tmp_path / "data", MESHGRADE_OWNER_TOKEN=TOKEN, **roomy) as (_, address, _link):
        config = tmp_path / "schemathesis.toml"
        config.write_text(CONFIG)
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(config)),
            *("run", f"{address}/openapi.json"),
            *("--header", f"Authorization: Bearer {TOKEN}"),
            *("--phases", "examples,coverage,fuzzing,stateful"),
            *("--checks", "all", "--continue-on-failure"),
            # A stream, or a request that waits up to 60 s, is open while the work before it is done.
            *("--request-timeout", "300"),
            *("--seed", "1", "--generation-database", "none"),
            *("--output-sanitize", "false", "--no-color"),
        ]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment(SCHEMATHESIS_HOOKS="tests.app.core.rest.schemathesis_hooks"),
            capture_output=True,
            text=True,
            timeout=840,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in done.stdout, done.stdout
