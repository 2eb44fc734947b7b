"""A course of students with attempts, written into the database of a running service, for pictures of its pages."""

import json
import sqlite3
from datetime import UTC, datetime, timedelta

import httpx

from app.grading.queue.leases import faults_of
from grader.verdicts.verdict import Verdict
from tests.browser.browser import CHECKOUT, OWNER_TOKEN, Service
from tests.browser.stored_attempts import store_attempt

STUDENTS = 32
PROBLEM = "fsdp_shard_map_step"
_ASSIGNMENTS = {
    "Week 1": ("all_gather_tiled", "psum_scatter_mean", "psum_by_hand"),
    "Week 2": ("dp_shard_map", "zero1_opt_state", PROBLEM),
}
_REJECTED = CHECKOUT / "tests/browser/verdicts/fsdp_shard_map_step_rejected.json"
_TIME = "%Y-%m-%d %H:%M:%S.%f"


def add_course(service: Service) -> str:
    """Add the course, and return the address of its page. Verdicts are a stored rejection, or pass every check."""
    rejected = Verdict.model_validate_json(_REJECTED.read_bytes())
    start = datetime.now(UTC) - timedelta(days=9)
    with httpx.Client(base_url=f"{service.url}/api/v1", headers={"Authorization": f"Bearer {OWNER_TOKEN}"}) as http:
        course = (
            http.post("/courses", json={"name": "Distributed training", "time_zone": "UTC"})
            .raise_for_status()
            .json()["id"]
        )
        for week, (name, slugs) in enumerate(_ASSIGNMENTS.items()):
            opens = start + timedelta(days=2 * week)
            assignment = {
                "name": name,
                "opens": f"{opens:%Y-%m-%dT09:00}",
                "due": f"{opens + timedelta(days=12):%Y-%m-%dT23:59}",
                "problems": [{"problem": slug, "points": 100} for slug in slugs],
            }
            http.post(f"/courses/{course}/assignments", json=assignment).raise_for_status()
        slugs = [slug for each in _ASSIGNMENTS.values() for slug in each]
        versions = {slug: http.get(f"/problems/{slug}").raise_for_status().json()["version"] for slug in slugs}
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        for number in range(STUDENTS):
            student = f"{number + 1:032x}"
            row = (student, f"student{number + 1:02}", "student", f"{start:{_TIME}}", 1)
            connection.execute(
                "INSERT INTO users (id, name, role, created_at, in_rankings) VALUES (?, ?, ?, ?, ?)", row
            )
            connection.execute(
                "INSERT INTO course_members (course_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)",
                (course, student, "student", f"{start:{_TIME}}"),
            )
            for place, slug in enumerate(slugs):
                _add_attempts(connection, student, rejected, slug, versions[slug], start, number, place)
    connection.close()
    return f"/courses/{course}"


def _add_attempts(
    connection: sqlite3.Connection,
    student: str,
    rejected: Verdict,
    slug: str,
    version: str,
    start: datetime,
    number: int,
    place: int,
) -> None:
    """Add a student's attempts. Later problems take more of them, and some students have not reached those."""
    if (number * 7 + place * 5) % 11 < place - 2:
        return
    here = rejected.model_copy(update={"problem": slug, "version": version})
    failures = (number * 5 + place) % (place + 2)
    verdicts = [here] * failures + ([_accepted(here)] if (number + place) % 9 else [])
    for turn, verdict in enumerate(verdicts):
        attempt = f"{number + 1:012x}{place:010x}{turn:010x}"
        store_attempt(connection, student, attempt, verdict)
        at = f"{start + timedelta(days=3 + place, hours=number % 8, minutes=17 * turn):{_TIME}}"
        connection.execute(
            "UPDATE attempts SET created_at = ?1, started_at = ?1, finished_at = ?1, verdict_reason = ?2, faults = ?3"
            " WHERE id = ?4",
            (at, verdict.reason, json.dumps(faults_of(verdict)) if verdict.reason else None, attempt),
        )


def _accepted(rejected: Verdict) -> Verdict:
    checks = [
        each.model_copy(update={"passed": True, "points": each.max_points, "message": "", "evidence": []})
        for each in rejected.checks
    ]
    cases = [each.model_copy(update={"passed": True}) for each in rejected.cases]
    changed = {"status": "accepted", "reason": None, "misconception": None, "score": 100}
    return rejected.model_copy(update=changed | {"checks": checks, "cases": cases})
