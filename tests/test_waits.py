"""A test waits for an event, never for a time, and gives up late enough for a busy machine."""

from functools import cache
from pathlib import Path

import pytest

from tests.waits import faults

TESTS = Path(__file__).parent
# Submissions and packages, whose waits are what is tested.
LEFT_OUT = ("hostile/submissions", "grader/packages")
# A test that needs a wait, and why no event can take its place.
ALLOWED = {
    "app/grading/queue/contract/grading_process.py::judge": "it takes as long as the test says, deaf to a stop",
    "app/loops.py::quicken": "it takes the place of the pause of a loop",
}


@cache
def _found() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        name = str(path.relative_to(TESTS))
        if not name.startswith(LEFT_OUT):
            for function, fault in faults(path):
                found.setdefault(f"{name}::{function}", []).append(fault)
    return found


def test_no_test_waits_for_a_time() -> None:
    found = {name: each for name, each in _found().items() if name not in ALLOWED}
    assert not found, "\n".join(f"tests/{name}, {fault}" for name, each in found.items() for fault in each)


def test_what_is_allowed_still_needs_it() -> None:
    assert set(ALLOWED) - _found().keys() == set()
    assert all(ALLOWED.values())


@pytest.mark.parametrize(
    "code",
    [
        "time.sleep(0.1)",
        "await asyncio.sleep(seconds)",
        "if x:\n    await anyio.sleep(1)",
        "page.wait_for_timeout(200)",
        "httpx.get(url)",
        "httpx.Client(timeout=5)",
        "async with asyncio.timeout(10):\n    ...",
        "await asyncio.wait_for(work, 1.0)",
        "process.wait(timeout=5)",
        "begun.wait(10)",
        "thread.join(5)",
        "subprocess.run(command, timeout=20)",
        "expect(page.get_by_role('alert')).to_be_visible(timeout=5_000)",
        "page.locator('.x').wait_for(timeout=3000)",
    ],
)
def test_a_wait_for_a_time_is_found(tmp_path: Path, code: str) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("async def test_it():\n" + "".join(f"    {line}\n" for line in code.split("\n")))
    [(function, fault)] = faults(file)
    assert function == "test_it"
    assert fault.startswith("line ")


@pytest.mark.parametrize(
    "code",
    [
        "while not done():\n    time.sleep(0.01)",
        "while not go.wait(0.01):\n    look()",
        "while not shown.count():\n    page.wait_for_timeout(500)",
        "await asyncio.sleep(0)",
        "httpx.Client(timeout=60)",
        "httpx.AsyncClient(transport=transport)",
        "await asyncio.wait_for(work, 60)",
        "process.wait()",
        "process.wait(timeout=60)",
        "' '.join(words)",
        "dispatch.wait('2')",
        "expect(page).to_have_title('x', timeout=VERDICT_TIMEOUT_MS)",
        "expect(page).to_have_title('x', timeout=60_000)",
    ],
)
def test_a_wait_for_an_event_is_not(tmp_path: Path, code: str) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("async def test_it():\n" + "".join(f"    {line}\n" for line in code.split("\n")))
    assert list(faults(file)) == []
