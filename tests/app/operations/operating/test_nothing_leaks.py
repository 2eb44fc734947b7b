"""A run of the real service with everything logged: no line contains a submission, its output or a secret."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.app.accounts.people import form_token
from tests.app.entry.cli.test_serve import CHECKOUT, environment

OWNER, METRICS, CANARY = "owner-token-CANARY", "metrics-token-CANARY", "CANARY"
SOURCES = {
    "prints": "import sys\nprint('CANARY' * 3)\nprint('CANARY', file=sys.stderr)\ndef fsdp_step(*a): print('CANARY')\n",
    "raises": "def fsdp_step(*a):\n    raise ValueError('CANARY')\n",
    "syntax": "CANARY = = 1\n",
    "exits": "import os\nprint('CANARY', flush=True)\nos._exit(3)\n",
}


@pytest.mark.timeout(900)
def test_no_log_line_of_a_whole_run_holds_what_was_sent(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "problems" / "fsdp_step", tmp_path / "problems" / "fsdp_step")
    log = tmp_path / "log"
    further = {
        "MESHGRADE_OWNER_TOKEN": OWNER,
        "MESHGRADE_METRICS_TOKEN": METRICS,
        "MESHGRADE_PROBLEMS": str(tmp_path / "problems"),
        "MESHGRADE_LOG_FORMAT": "json",
        "MESHGRADE_LOG_LEVEL": "debug",
        "MESHGRADE_GRADING_SLOTS": "1",
        "MESHGRADE_POOL_PER_PROBLEM": "1",
    }
    command = [sys.executable, "-m", "app.entry.cli", "serve", "--port", "0", "--data", str(tmp_path / "data")]
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            command, env=environment(**further), stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = ""
            while "Sign in" not in said:
                line = process.stdout.readline()
                assert line, log.read_text()
                said += line
            address, link = re.findall(r"http://\S+", said)[:2]
            secrets = _use(address, link)
        finally:
            process.terminate()
            process.wait(timeout=60)

    lines = log.read_text()
    events = [json.loads(line) for line in lines.splitlines()]
    assert {"request", "attempt"} <= {event["event"] for event in events}
    assert (
        sum(event["event"] == "attempt" and event["state"] == "finished" for event in events) == len(SOURCES) + 1
    )  # and the form's
    for secret in (CANARY, link.partition("token=")[2], *secrets):
        assert secret not in lines


def _use(address: str, link: str) -> list[str]:
    """Do what people and programs do, right and wrong. Returns more texts that no line may contain."""
    bearer = {"Authorization": f"Bearer {OWNER}", "X-Canary": CANARY}
    api = f"{address}/api/v1"
    with httpx.Client(timeout=90, headers={"Origin": address}) as browser:
        assert browser.get(link).status_code == 303
        cookie = browser.cookies["meshgrade_session"]
        page = browser.get(f"{address}/problems/fsdp_step").text
        form = {"form_token": form_token(page), "action": "run", "source": CANARY}
        assert browser.post(f"{address}/problems/fsdp_step", data=form).status_code == 303
        guess = {"form_token": form["form_token"], "name": CANARY, "password": CANARY}
        browser.post(f"{address}/sign-in", data=guess)
        browser.get(f"{address}/attempts?before={CANARY}")
        browser.get(link)
    for source in SOURCES.values():
        attempt = httpx.post(
            f"{api}/problems/fsdp_step/runs", json={"source": source}, headers=bearer, timeout=60
        ).json()
        while attempt["verdict"] is None:
            attempt = httpx.get(f"{api}/attempts/{attempt['id']}?wait=60", headers=bearer, timeout=90).json()
        assert attempt["verdict"]["status"] == "rejected", attempt
    for body in (b'{"source": "CANARY', b'{"source": 1, "CANARY": 2}', b'{"source": "CANARY\\u0000"}', b"\xffCANARY"):
        headers = {**bearer, "Content-Type": "application/json"}
        assert httpx.post(f"{api}/problems/fsdp_step/runs", content=body, headers=headers, timeout=60).status_code in (
            400,
            422,
        )
    for wrong in ("Bearer CANARY", "CANARY"):
        assert httpx.get(f"{api}/me", headers={"Authorization": wrong}, timeout=60).status_code == 401
    metrics = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {METRICS}"}, timeout=60).text
    assert re.search(r'meshgrade_wall_up\{wall="seccomp",worker="[^"]+"\} 1\.0', metrics)
    assert CANARY not in metrics
    return [cookie, form["form_token"]]
