"""Run tests marked `serial` after all others, one at a time.

They pin cores, kill processes or compare CPU times, so nothing else may run beside them. Every run has two halves
(`tests/pytest_runs.py`): the first leaves these tests out and says whether there are any, and the second runs these
alone.
"""

import os
from pathlib import Path

import pytest

# The file to make if a test was left out.
LEFT_OUT = "MESHGRADE_TEST_SERIAL_LEFT_OUT"
ONLY_SERIAL = "MESHGRADE_TEST_ONLY_SERIAL"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "serial: runs after all other tests, alone, because others would disturb it")


# After all that chooses tests, so that one which is left out for another reason does not count.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Removed, because a test may run a pytest of its own. The process that starts others for pytest-xdist collects no
    # tests, so these still find the variables.
    file, only = os.environ.pop(LEFT_OUT, None), os.environ.pop(ONLY_SERIAL, None)
    if not file and not only:
        return
    left_out = [item for item in items if (item.get_closest_marker("serial") is None) == bool(only)]
    if file and left_out:
        Path(file).touch()
    config.hook.pytest_deselected(items=left_out)
    numbers = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in numbers]
