"""A problem with a mark in each of its files, so that a test can search what a service answers for them."""

import re
from collections import defaultdict

from tests.app.authoring.zips import another, upload
from tests.app.routes import routes_of
from tests.app.teaching.courses.test_courses import JSON

SLUG = "secret_sum"
MARKS = {
    "title": "TITLE-MARK",
    "statement": "STATEMENT-MARK",
    "hint": "HINT-MARK",
    "editorial": "EDITORIAL-MARK",
    "starter": "STARTER-MARK",
    "reference": "REFERENCE-MARK",
    "accepted": "ACCEPTED-MARK",
    "rejected": "REJECTED-MARK",
    "cases": "CASES-MARK",
}
TASK = {"title", "statement", "starter"}
ALL_OPEN = TASK | {"hint"}
# The tests submit this, so people who have submitted it see it in their own attempt.
SOLUTION = f"def add_one(x): return x + 1  # {MARKS['reference']}\n"
SOLVED = ALL_OPEN | {"editorial", "reference", "accepted"}


def files_of(slug: str = SLUG) -> dict[str, str]:
    files = another(slug)
    return files | {
        "problem.toml": files["problem.toml"].replace('title = "Add one"', f'title = "{MARKS["title"]}"'),
        "statement.md": MARKS["statement"],
        "hints.md": f"## Hint 1\n{MARKS['hint']}\n",
        "editorial.md": MARKS["editorial"],
        "starter.py": f"# {MARKS['starter']}\ndef add_one(x): ...\n",
        "reference.py": SOLUTION,
        "cases.py": f"# {MARKS['cases']}\n",
        "submissions/accepted/plus.py": f'"""Adds one. {MARKS["accepted"]}"""\ndef add_one(x): return 1 + x\n',
        "submissions/rejected/wrong_value/minus.py": f'"""{MARKS["rejected"]}"""\ndef add_one(x): return x - 1\n',
    }


async def give(service, tess, course: dict, slug: str = SLUG, **body: object) -> str:
    """Upload the problem without publishing it, and give it to the course. Returns its version."""
    version = (await upload(service, files_of(slug), slug)).json()["version"]
    body = {"problem": slug, "version": version} | body
    answer = await tess.post(f"/api/v1/courses/{course['id']}/problems", json=body, headers=JSON)
    assert answer.status_code == 201, answer.text
    return version


async def solve(service, http, slug: str = SLUG) -> str:
    path = f"/api/v1/problems/{slug}/attempts?wait=60"
    answer = await http.post(path, json={"source": SOLUTION}, headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


async def marks_seen(service, http, slug: str = SLUG, **owned: str) -> dict[str, set[str]]:
    """Return the marks that the response of every GET route contains, by its address."""
    ids = defaultdict(lambda: "0" * 32, slug=slug, **owned)
    paths = [path.format_map(ids) for method, path in sorted(routes_of(service.app)) if method == "GET"]
    paths += [f"/search/found?q={each}" for each in ("MARK", slug)]
    paths += ["/problems?q=MARK", f"/explore?problem={slug}", f"/explore?problem={slug}&solution=plus"]
    found = {}
    for path in paths:
        if "/sign-in" in path or "/lti/" in path or path == "/metrics":
            continue
        accepts = "application/json" if path.startswith("/api/") else "text/html"
        text = (await http.get(path, headers={"Accept": accepts})).text
        found[path] = {name for name, mark in MARKS.items() if re.search(mark, text, re.IGNORECASE)}
    return {path: marks for path, marks in found.items() if marks}


def together(seen: dict[str, set[str]]) -> set[str]:
    return set().union(*seen.values())
