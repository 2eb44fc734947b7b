"""A course, a student and attempts in the database of a running service, so that every page has something to show.

No attempt is judged: each has a stored verdict.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import StorageState

from grader.verdicts.verdict import Verdict
from tests.app.program_verdict import program_verdict
from tests.browser.browser import CHECKOUT, OWNER_TOKEN, Service
from tests.browser.sessions import cookies_of
from tests.browser.stored_attempts import database, owner_of, read_stored, store_attempt, verdict_of_call
from tests.browser.stored_explorations import store_exploration_on_tpus
from tests.browser.stored_teaching import (
    REJUDGE,
    REPOSITORY,
    SELECTION,
    TICKET,
    VALIDATION,
    remove_teaching,
    store_authoring,
    store_platform,
)

PROBLEM, RANKED, TRACK = "fsdp_step", "psum_scatter_mean", "the-training-loop"
STUDENT = "axe"
CLASSMATE = "c" * 32
PASSWORD = "a quiet mesh of eight"
EXPLORED = "7e" * 15 + "7f"
_STORED = CHECKOUT / "tests/grader/stored_verdicts"
_REJECTED = Path(__file__).parent / "verdicts" / "fsdp_shard_map_step_rejected.json"
_NOW = "2026-01-05 09:30:00.000000"


@dataclass(frozen=True, slots=True)
class Work:
    """`addresses` has what stands for each name in the path of a page (visited_pages.py)."""

    addresses: Mapping[str, str]
    student: StorageState


def verdicts_of_programs() -> dict[str, Verdict]:
    """Verdicts that differ in what they draw, by their names."""
    # A verdict of the judge, with two meshes and ten checks.
    long = read_stored(_STORED / "program_accepted.json")
    half = {
        "status": "rejected",
        "reason": "wrong_sharding",
        "score": 50,
        "efficiency": None,
        "checks": [
            each.model_copy(update={"passed": False, "points": 0}) if number % 2 else each
            for number, each in enumerate(long.checks)
        ],
    }
    return {
        "wrong": program_verdict(PROBLEM, wrong=True),
        "right": program_verdict(PROBLEM, efficiency=104.237),
        "long": long,
        # The same verdict, but every other check failed.
        "half": long.model_copy(update=half),
        # The judge's verdict on a plain data-parallel step at fsdp_shard_map_step: 5 of 11 checks failed.
        "real": read_stored(_REJECTED),
    }


def add_work(service: Service, wrong_source: str, accepted_source: str) -> Work:
    """Add the work: through REST if nothing has to be judged for it, otherwise as rows."""
    # Remove what other tests of the service have left: an owner who has solved a problem cannot give it up.
    remove_work(service)
    here = {"Origin": service.url}
    with (
        httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, timeout=60) as owner,
        httpx.Client(base_url=service.url, headers=here, timeout=60) as student,
    ):
        versions = {slug: _get(owner, f"/problems/{slug}")["version"] for slug in (PROBLEM, RANKED)}
        course = _post(owner, "/courses", name="Sharding", time_zone="UTC")
        dates = {"opens": "2026-01-05T09:00", "due": "2036-01-12T23:59"}
        problems = [{"problem": PROBLEM, "points": 100}]
        of_course = f"/courses/{course['id']}"
        assignment = _post(owner, f"{of_course}/assignments", name="Week 1", problems=problems, **dates)
        exam = {"exam": True, "duration_minutes": 60}
        problems = [{"problem": RANKED, "points": 100}]
        midterm = _post(owner, f"{of_course}/assignments", name="Midterm", problems=problems, **dates, **exam)
        _post(owner, f"{of_course}/announcements", text="The **first** week is open.")
        invited = _post(owner, "/invitations", note=STUDENT)["url"]
        unused = _post(owner, "/invitations", note="nobody")["url"]
        person = _sign_up(student, invited[invited.index("/sign-up") :])
        _post(student, "/courses/join", code=course["join_code"])
        attempts = _store(service, person, versions, wrong_source, accepted_source)
        shared = _share(student, attempts["rejected"])
        by_hand = f"/people/{person}/attempts/{attempts['rejected']}"
        _post(owner, f"{by_hand}/comments", line=1, text="Is this needed?")
        override = owner.put(f"/api/v1{by_hand}/override", json={"score": 50, "reason": "as agreed"})
        assert override.is_success, override.text
        completion = _post(student, f"/tracks/{TRACK}/completion/sharing")
        interview = _post(student, "/interviews", level="mixed")
        cookies = cookies_of(student)
        with database(service) as connection:
            instructor = owner_of(connection)
            store_authoring(connection, instructor, PROBLEM, versions[PROBLEM], attempts)
            store_platform(connection, instructor, course["id"], PROBLEM)
        [cluster, *_] = _get(owner, f"/problems/{PROBLEM}/insight")["clusters"]
    return Work(
        {
            "course_id": course["id"],
            "assignment_id": assignment["id"],
            "exam_id": midterm["id"],
            "person_id": person,
            "sign_up": unused[unused.index("/sign-up") :],
            "interview_id": interview["id"],
            "version": versions[PROBLEM],
            "explored": EXPLORED,
            "shared": shared,
            "completed": completion["link"].removeprefix(service.url),
            "repository_id": REPOSITORY,
            "validation_id": VALIDATION,
            "rejudge_id": REJUDGE,
            "selection_id": SELECTION,
            "ticket": TICKET,
            "key": cluster["key"],
            **attempts,
        },
        cookies,
    )


def remove_work(service: Service) -> None:
    """Remove what other tests of the service would see: the people, and what the owner has sent."""
    with database(service) as connection:
        connection.execute("DELETE FROM users WHERE name = ? OR id = ?", (STUDENT, CLASSMATE))
        connection.execute("DELETE FROM attempts WHERE user_id = ?", (owner_of(connection),))
        connection.execute("DELETE FROM explorations WHERE id = ?", (EXPLORED,))
        remove_teaching(connection)


def _get(http: httpx.Client, path: str) -> Any:
    answer = http.get(f"/api/v1{path}")
    assert answer.is_success, answer.text
    return answer.json()


def _post(http: httpx.Client, path: str, **fields: object) -> Any:
    answer = http.post(f"/api/v1{path}", json=fields)
    assert answer.is_success, (path, answer.text)
    return answer.json()


def _sign_up(http: httpx.Client, link: str) -> str:
    """Sign up a student. Returns their id."""
    form = http.get(link).text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    assert http.post("/sign-up", data=hidden | {"name": STUDENT, "password": PASSWORD}).status_code == 303
    return str(_get(http, "/me")["id"])


def _share(http: httpx.Client, attempt_id: str) -> str:
    form_token = re.findall(r'name="form_token" value="([^"]*)"', http.get(f"/attempts/{attempt_id}").text)[0]
    page = http.post(f"/attempts/{attempt_id}/share", data={"form_token": form_token})
    assert page.is_success, page.text
    return re.findall(r'href="(/shared/[^"]+)"', page.text)[0]


def _store(
    service: Service, person: str, versions: Mapping[str, str], wrong_source: str, accepted_source: str
) -> dict[str, str]:
    """Store an exploration, and attempts of the student, of a classmate who sent the same, and of the owner."""
    numbers = iter(range(1, 100))

    def add(user: str, verdict: Verdict, source: str) -> str:
        attempt_id = f"{next(numbers):032x}"
        version = versions[verdict.problem]
        store_attempt(connection, user, attempt_id, verdict.model_copy(update={"version": version}), source=source)
        return attempt_id

    rejected, accepted = (verdict_of_call(status) for status in ("rejected", "accepted"))
    with database(service) as connection:
        row = (CLASSMATE, "classmate", "student", _NOW, 1)
        connection.execute("INSERT INTO users (id, name, role, created_at, in_rankings) VALUES (?, ?, ?, ?, ?)", row)
        owner = owner_of(connection)
        attempts = {
            "rejected": add(person, rejected, wrong_source),
            "accepted": add(person, accepted, accepted_source),
            "of_the_classmate": add(CLASSMATE, accepted, accepted_source),
        }
        for _ in range(2):
            # No known mistake explains these, so they are a cluster.
            add(CLASSMATE, rejected.model_copy(update={"misconception": None}), wrong_source)
        add(person, program_verdict(RANKED, wrong=True), wrong_source)
        for efficiency in (80.0, 104.24, 98.5):
            add(owner, program_verdict(RANKED, efficiency=efficiency), accepted_source)
        for name, verdict in verdicts_of_programs().items():
            # An owner who had solved it could not give it up.
            attempts[name] = add(person if verdict.status == "accepted" else owner, verdict, accepted_source)
        store_exploration_on_tpus(connection, owner, EXPLORED)
    return attempts
