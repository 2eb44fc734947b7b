"""Rules for every test: an id is short, and the same in every process that collects it."""

import gc
import os
import sys
from pathlib import Path

import hypothesis
import pytest

# Write bytecode, as ./meshgrade does. Otherwise each process that a test starts would compile everything it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
sys.pycache_prefix = os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parents[1] / ".meshgrade" / "pycache")
)

pytest_plugins = [
    "pytester",
    "tests.failures",
    "tests.folder_times",
    "tests.hung_tests",
    "tests.selection",
    "tests.serial_tests",
    "tests.slow_tests",
    "tests.unchanged",
]
# The longest id of a test, and the longest value in it. Ids go to every process, and into reports and file names.
MAX_ID = 200
MAX_VALUE = 100

# The same examples everywhere. Hypothesis would draw others in each run, unless CI is set; remember some of them; and
# refuse tests by their time, of which a busy machine takes more.
_PROFILE = "meshgrade"
hypothesis.settings.register_profile(
    _PROFILE,
    hypothesis.settings.get_profile("default"),
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=100,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile(_PROFILE)


def pytest_make_parametrize_id(config, val, argname):
    """Use the argument's name, which pytest then numbers, for a value that is too long to read.

    A zip that is made during collection contains the time. As an id, it would differ between two processes that collect
    at different times, and pytest-xdist refuses to run tests whose ids differ.
    """
    return argname if _is_long(val) else None


def pytest_collection_finish(session):
    """Exclude what exists from garbage collection. Thousands of tests and the service's modules live until the end, and
    visiting them twenty times a minute took a tenth of the time of the service's tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Fail to collect a module if one of its ids is too long. pytest and pytest-xdist both report that as an error."""
    report = yield
    message = long_ids(item.nodeid for item in report.result or () if isinstance(item, pytest.Item))
    if message:
        report.outcome, report.longrepr, report.result = "failed", message, []
    return report


def long_ids(ids):
    """A message about ids that are too long, or None."""
    long = [each for each in ids if len(each) > MAX_ID]
    if not long:
        return None
    shown = "\n".join(f"  {each[:MAX_ID]}… ({len(each):,} characters)" for each in long[:10])
    return (
        f"{len(long)} tests have an id of over {MAX_ID} characters. Give their parameters short ids "
        f"(`ids=`, `pytest.param(…, id=…)`), or the test a shorter name:\n{shown}"
    )


def _is_long(value):
    match value:
        case str() | bytes():
            return len(value) > MAX_VALUE or len(ascii(value)) > MAX_VALUE + 3
        case int():
            return value.bit_length() > 3 * MAX_VALUE
    return False
