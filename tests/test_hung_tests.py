"""A test that hangs past its timeout does not stop the run."""

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]

HANGS = """
    import time

    def wait_in_spite_of_exceptions():
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests of this source in a pytest of their own, where they have a second."""
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    pytester.makeconftest(
        "from tests import hung_tests\nhung_tests.GRACE_S = 0.5\npytest_plugins = ['tests.hung_tests']\n"
    )

    def run_tests(source, *options):
        pytester.makepyfile(test_it=source)
        return pytester.runpytest_subprocess("-p", "no:randomly", "-o", "timeout=0.5", *options, timeout=60)

    return run_tests


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_a_process_whose_test_hangs_exits_and_says_where(run, phase):
    waits = {each: "wait_in_spite_of_exceptions()" if each == phase else "pass" for each in ("setup", "teardown")}
    source = (
        HANGS
        + f"""
    import pytest

    @pytest.fixture
    def something():
        {waits["setup"]}
        yield
        {waits["teardown"]}

    def test_it_hangs(something):
        pass
    """
    )
    result = run(source)
    assert result.ret == 1
    assert "in wait_in_spite_of_exceptions" in result.stderr.str()


def test_a_run_goes_on_after_it(run):
    source = (
        HANGS
        + """
    def test_it_hangs():
        wait_in_spite_of_exceptions()

    def test_after_it():
        pass
    """
    )
    result = run(source, "-n", "1")
    assert "crashed while running 'test_it.py::test_it_hangs'" in result.stdout.str()
    result.assert_outcomes(passed=1, failed=1)
