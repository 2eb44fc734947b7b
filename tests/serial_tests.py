"""Run tests marked `serial` after all others, one at a time.

They pin cores, kill processes or compare CPU times, so nothing else may run beside them. Every run has two halves
(`tests/pytest_runs.py`): the first leaves these tests out and says whether there are any, and the second runs these
alone.
"""

import os
from pathlib import Path

import pytest

# Where to write down the files whose tests were left out, and where to read them.
LEFT_OUT = "MESHGRADE_TEST_SERIAL_LEFT_OUT"
ONLY_SERIAL = "MESHGRADE_TEST_ONLY_SERIAL"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "serial: runs after all other tests, alone, because others would disturb it")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Collect only files that have serial tests. All of them would take longer than these tests."""
    file = os.environ.get(ONLY_SERIAL)
    if not file or not collection_path.match("test_*.py"):
        return None
    return str(collection_path) not in Path(file).read_text(encoding="utf-8").splitlines() or None


# Run this after everything else that chooses tests, so that a test left out for another reason does not count.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Remove the variables, because a test may run a pytest of its own. The process that starts others for pytest-xdist
    # collects no tests, so these others still find the variables.
    file, only = os.environ.pop(LEFT_OUT, None), os.environ.pop(ONLY_SERIAL, None)
    if not file and not only:
        return
    left_out = [item for item in items if (item.get_closest_marker("serial") is None) == bool(only)]
    if file and left_out:
        files = sorted({str(item.path) for item in left_out})
        # Each process collects the same tests, so whichever writes last writes the same.
        Path(file).write_text("\n".join(files), encoding="utf-8")
    config.hook.pytest_deselected(items=left_out)
    numbers = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in numbers]
