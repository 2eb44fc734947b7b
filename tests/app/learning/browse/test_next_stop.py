"""The next stop is one rule, and every page that names it names the same problem."""

import json
import re
from uuid import uuid4

import pytest

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.database import Database
from tests.app.accounts.people import sign_in
from tests.app.grading.attempts.handing_in import accepted, hand_in
from tests.grader.modes.answer.answer_package import FILES

pytestmark = pytest.mark.anyio
UUID = re.findall(r'uuid = "([^"]+)"', "".join(FILES.values()))[0]

# The pages that lead to the next problem once one is solved, and how each names it.
NAMED = {
    "/problems": r'class="pick is-primary" href="/problems/(\w+)"',
    "/progress": r'class="button primary" href="/problems/(\w+)"',
    "/attempts/{attempt}": r'class="button primary" href="/problems/(\w+)" data-next',
    "/attempts/{attempt}/verdict": r'class="button primary" href="/problems/(\w+)" data-next',
    "/problems/add_one/editorial": r'href="/problems/(\w+)" data-next',
    "/problems/add_one/solutions": r'<li>Next: <a href="/problems/(\w+)"',
}


async def test_all_pages_name_the_same_problem(start_service, tmp_path):
    """`c_bytes` was tried before `add_one` was solved, and what follows `add_one` in the tracks comes before it."""
    slugs = ("a_bytes", "add_one", "b_bytes", "c_bytes")
    for slug in {*slugs} - {"add_one"}:
        folder = tmp_path / "problems" / slug
        folder.mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(text.replace("shard_bytes", slug).replace(UUID, str(uuid4())))
    track = f'[[tracks]]\nid = "a"\ntitle = "Adding"\nteaches = "Sums of numbers."\nproblems = {json.dumps(slugs)}\n'
    (tmp_path / "problems" / "tracks.toml").write_text(track)
    async with start_service() as service:
        owner = await service.services[Accounts].ensure_owner()
        await sign_in(service)
        user = User(owner.id, owner.name, owner.role)
        database = service.services[Database]
        await hand_in(database, user, accepted(None).model_copy(update={"problem": "c_bytes", "status": "rejected"}))
        await hand_in(database, user, accepted(None))
        attempts = (await service.http.get("/attempts?status=accepted")).text
        attempt = re.findall(r'href="/attempts/(\w{32})"', attempts)[0]
        named = {}
        for path, pattern in NAMED.items():
            page = await service.http.get(path.format(attempt=attempt))
            assert page.status_code == 200, path
            named[path] = re.findall(pattern, page.text)
    assert named == {path: ["b_bytes"] for path in NAMED}
