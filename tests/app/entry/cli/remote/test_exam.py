"""In an exam, the command line shows neither a verdict nor an exit code that tells what it is."""

import json
import re

import httpx

from tests.app.entry.cli.remote.conftest import TOKEN, Meshgrade

OWNER = {"Authorization": f"Bearer {TOKEN}"}


def student_in_an_exam(live: str, name: str) -> str:
    """The token of a new student of a course whose only assignment is an exam in fsdp_step."""
    with httpx.Client(base_url=f"{live}/api/v1", headers=OWNER, timeout=60) as owner:
        course = (
            owner.post("/courses", json={"name": f"Course of {name}", "time_zone": "UTC"}).raise_for_status().json()
        )
        exam = {
            "name": "Midterm",
            "opens": "2026-01-05T09:00",
            "due": "2036-01-12T23:59",
            "problems": [{"problem": "fsdp_step", "points": 100}],
            "exam": True,
        }
        owner.post(f"/courses/{course['id']}/assignments", json=exam).raise_for_status()
        link = owner.post("/invitations", json={"role": "student"}).raise_for_status().json()["url"]
    with httpx.Client(base_url=live, headers={"Origin": live}, timeout=60) as http:
        form = http.get(link[link.index("/sign-up") :]).text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        signed_up = http.post("/sign-up", data=hidden | {"name": name, "password": "a quiet mesh of eight"})
        assert signed_up.status_code == 303
        http.post("/api/v1/courses/join", json={"code": course["join_code"]}).raise_for_status()
        made = http.post("/api/v1/tokens", json={"name": "exam", "scopes": ["read", "submit"]}).raise_for_status()
    return str(made.json()["token"])


def test_a_right_and_a_wrong_submission_look_alike(meshgrade: Meshgrade, live: str, fsdp_step, tmp_path) -> None:
    token = student_in_an_exam(live, "examinee")
    assert meshgrade("login", live, "--token-stdin", stdin=f"{token}\n".encode()).code == 0
    (tmp_path / "right.py").write_text(fsdp_step.reference)
    (tmp_path / "wrong.py").write_text("x = 1\n")
    seen = [meshgrade("submit", tmp_path / name, "--problem", "fsdp_step") for name in ("right.py", "wrong.py")]
    for done in seen:
        assert done.code == 0
        assert done.out == ""
        assert "Submitted. This is an exam: its verdicts are hidden until 2036-01-1" in done.err
    as_data = meshgrade("submit", tmp_path / "wrong.py", "--problem", "fsdp_step", "--json")
    assert (as_data.code, json.loads(as_data.out)["verdict"]) == (0, None)
    listed = meshgrade("problems")
    assert "accepted" not in listed.out + listed.err
